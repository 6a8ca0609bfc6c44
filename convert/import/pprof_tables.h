// SPDX-License-Identifier: Apache-2.0
// The tables that the samples of a pprof refer to: texts and locations, and through these functions
// and mappings. They are added to a ProfileBuilder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "convert/import/dictionary_tables.h"
#include "convert/import/import_report.h"
#include "convert/model/profile_builder.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::convert {

// The entries of a table by id. Ids are usually numbered from 1, but may be any number.
template <class T>
class IdMap {
 public:
  // Returns false if `id` is 0 or already used.
  bool Add(std::uint64_t id, const T& entry) {
    if (id == 0 || Find(id) != nullptr) return false;
    if (id == dense_.size() + 1) {
      dense_.push_back(entry);
    } else {
      sparse_.emplace(id, entry);
    }
    return true;
  }

  // Returns null if there is none. Valid until the next Add.
  const T* Find(std::uint64_t id) const {
    if (id - 1 < dense_.size()) return &dense_[id - 1];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<T> dense_;               // for the ids from 1 on
  std::map<std::uint64_t, T> sparse_;  // not a hash table: a file could choose equal hashes
};

// Reads the string table. The builder and the bytes that the texts are views of must outlive the
// result. Fails with kCorrupt if the first text is not empty, the protobuf is damaged, or there are
// more than `limit` texts.
Result<TextTable> ReadTexts(Bytes encoded, std::size_t limit, ProfileBuilder& builder);

using PprofLocations = IdMap<DictionaryLocation>;

// Adds all mappings, functions and locations. Fails with kCorrupt, naming table and index. The
// reason is a damaged protobuf, an id that is 0 or used twice, or a reference to a missing entry.
Result<PprofLocations> ReadLocations(Bytes encoded, TextTable& texts, ProfileBuilder& builder,
                                     ImportReport& report);

}  // namespace perftape::convert
