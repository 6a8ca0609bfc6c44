// SPDX-License-Identifier: Apache-2.0
// What the samples of a pprof refer to: its texts and locations, and through these its functions
// and mappings, as things of a ProfileBuilder.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "convert/import/import_report.h"
#include "convert/model/profile_builder.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::convert {

// What stands for each id of a table. Ids are mostly numbered from 1, but may be any.
template <class T>
class IdMap {
 public:
  // False where `id` is 0 or there already.
  bool Add(std::uint64_t id, const T& thing) {
    if (id == 0 || Find(id) != nullptr) return false;
    if (id == dense_.size() + 1) {
      dense_.push_back(thing);
    } else {
      sparse_.emplace(id, thing);
    }
    return true;
  }

  // Null where there is none. Valid until the next Add.
  const T* Find(std::uint64_t id) const {
    if (id - 1 < dense_.size()) return &dense_[id - 1];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<T> dense_;  // of the ids from 1 on
  tsl::robin_map<std::uint64_t, T> sparse_;
};

// The string table. An index that is not in it is the empty text and makes it not ok(), for the
// caller to ask when it has read a whole message.
class PprofTexts {
 public:
  // The bytes that the texts are views of, and the builder, must outlive it. kCorrupt where the
  // first is not empty, the protobuf is damaged, or there are more than `limit`.
  static Result<PprofTexts> Read(Bytes encoded, std::size_t limit, ProfileBuilder& builder);

  std::string_view View(pprof::StringIndex index);
  StringId Add(pprof::StringIndex index);
  bool ok() const { return ok_; }

 private:
  PprofTexts(std::vector<std::string_view> texts, ProfileBuilder& builder);

  std::vector<std::string_view> texts_;
  std::vector<std::optional<StringId>> ids_;  // of those that were added
  ProfileBuilder* builder_;
  bool ok_ = true;
};

struct PprofLocation {
  LocationId id = {};
  bool is_mapped = false;
};
using PprofLocations = IdMap<PprofLocation>;

// Adds all mappings, functions and locations. kCorrupt, naming table and index, where the protobuf
// is damaged, an id is 0 or used twice, or something refers to what is not there.
Result<PprofLocations> ReadLocations(Bytes encoded, PprofTexts& texts, ProfileBuilder& builder,
                                     ImportReport& report);

// "location 12: no such mapping".
std::unexpected<Error> WrongEntry(std::string_view table, std::size_t index, std::string_view what);

}  // namespace perftape::convert
