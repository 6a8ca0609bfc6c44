// SPDX-License-Identifier: Apache-2.0
// What the tables of pprof and of OTLP have in common: texts, mappings at several addresses, and
// limits by the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Limits relative to the size of a file, so that a small file cannot use up all memory. Every known
// profile has fewer frames, texts and labels than bytes.
struct DictionaryLimits {
  std::uint64_t frames = 0;  // pushed frames: frames shared with the previous stack are not counted
  std::uint64_t texts = 0;
  std::uint64_t labels = 0;  // of all distinct sets
};

DictionaryLimits LimitsOf(Bytes file);

// The string table. An index outside it yields the empty text and sets ok() to false. The caller
// checks ok() after it has read a whole message.
class TextTable {
 public:
  // The builder and the bytes that the texts are views of must outlive the result. Fails with
  // kCorrupt if the first text is not empty.
  static Result<TextTable> Of(std::vector<std::string_view> texts, ProfileBuilder& builder);

  std::string_view View(std::int64_t index);
  StringId Add(std::int64_t index);
  bool ok() const { return ok_; }
  // Whether the empty text, with which every table begins, occurs again. Then the bytes may be
  // several joined profiles, because protobuf appends the second table to the first.
  bool begins_again() const;

 private:
  TextTable(std::vector<std::string_view> texts, ProfileBuilder& builder);

  std::vector<std::string_view> texts_;
  std::vector<std::optional<StringId>> ids_;  // of the texts that were added
  ProfileBuilder* builder_;
  bool ok_ = true;
};

// A mapping at one address. The start of the profile's mapping is the lowest of all mappings with
// its id.
struct MappingAt {
  MappingId id = {};
  std::uint64_t start = 0, file_offset = 0;
};

// Adds mappings of one file. Those that are equal at several addresses become instances of one,
// lowest address first. Sets the instances of `mappings`, and returns one entry for each.
std::vector<MappingAt> AddMappings(std::vector<Mapping>& mappings, ProfileBuilder& builder);

// The offset of an address in a mapping; without one, the address. Modulo 2^64: an address may be 0
// if only names are known.
FileOffset OffsetIn(const MappingAt& mapping, std::uint64_t address);

struct DictionaryLocation {
  LocationId id = {};
  bool is_mapped = false;
};

// An index of a text that is not in the table.
inline constexpr std::string_view kNoSuchText = "string out of range";

// Returns the column, or 0 (unknown) if it does not fit.
std::uint32_t ToColumn(std::int64_t column);

// Returns the error "location 12: no such mapping".
std::unexpected<Error> WrongEntry(std::string_view table, std::size_t index, std::string_view what);

// Returns kKernel for names that perf gives to the kernel and its modules
// ("[kernel.kallsyms]_text", "[guest.kernel.kallsyms]", "[nf_tables]", "/lib/.../nf_tables.ko.xz",
// "vmlinux"), and for addresses in the upper half of the address space. Names such as "[vdso]" and
// "[heap]" are never kernel.
MappingType TypeOfMapping(std::string_view filename, std::uint64_t start);

}  // namespace perftape::convert
