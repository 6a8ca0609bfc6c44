// SPDX-License-Identifier: Apache-2.0
// The tables that the samples of a pprof refer to: texts and locations, and through these functions
// and mappings. They are added to a ProfileBuilder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/pprof/messages.h"

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

// The string table. An index outside it yields the empty text and sets ok() to false. The caller
// checks ok() after it has read a whole message.
class PprofTexts {
 public:
  // The builder and the bytes that the texts are views of must outlive the result. Fails with
  // kCorrupt if the first text is not empty, the protobuf is damaged, or there are more than
  // `limit` texts.
  static Result<PprofTexts> Read(Bytes encoded, std::size_t limit, ProfileBuilder& builder);

  std::string_view View(pprof::StringIndex index);
  StringId Add(pprof::StringIndex index);
  bool ok() const { return ok_; }
  // Whether the empty text, with which every table begins, is there again: the bytes may be several
  // profiles. Protobuf then appends the second table to the first.
  bool begins_again() const;

 private:
  PprofTexts(std::vector<std::string_view> texts, ProfileBuilder& builder);

  std::vector<std::string_view> texts_;
  std::vector<std::optional<StringId>> ids_;  // of the texts that were added
  ProfileBuilder* builder_;
  bool ok_ = true;
};

struct PprofLocation {
  LocationId id = {};
  bool is_mapped = false;
};
using PprofLocations = IdMap<PprofLocation>;

// Adds all mappings, functions and locations. Fails with kCorrupt, naming table and index. The
// reason is a damaged protobuf, an id that is 0 or used twice, or a reference to a missing entry.
Result<PprofLocations> ReadLocations(Bytes encoded, PprofTexts& texts, ProfileBuilder& builder,
                                     ImportReport& report);

// Returns the error "location 12: no such mapping".
std::unexpected<Error> WrongEntry(std::string_view table, std::size_t index, std::string_view what);

// Returns kKernel for names that perf gives to the kernel and its modules
// ("[kernel.kallsyms]_text", "[guest.kernel.kallsyms]", "[nf_tables]", "/lib/.../nf_tables.ko.xz",
// "vmlinux"), and for addresses in the upper half of the address space. Names such as "[vdso]" and
// "[heap]" are never kernel.
MappingType TypeOfMapping(std::string_view filename, std::uint64_t start);

}  // namespace perftape::convert
