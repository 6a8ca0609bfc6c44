// SPDX-License-Identifier: Apache-2.0
// The keys of `perf report --sort` and `--fields`, a row each: how a sample has its value, what
// makes two values equal, their order, and their text. Words, headings and order are those of perf
// 6.1 (tools/perf/util/sort.c, tools/perf/ui/hist.c).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/histogram/entry.h"
#include "formats/base/result.h"

namespace perftape::histogram {

// How values are written.
struct TextStyle {
  bool nanoseconds = false;       // times with nine decimals
  bool full_source_path = false;  // of srcline: not only the file name
};

struct Key {
  // What the value of an identity key is.
  struct Identity {
    std::uint64_t kind = 0, value = 0;
    bool operator==(const Identity&) const = default;
  };
  enum class Column : std::uint8_t { kText, kShare, kNumber };

  std::string_view word;
  std::string_view heading;
  Column column = Column::kText;
  // Of the column; 0 if it is as wide as the longest text. At least that of the heading.
  unsigned width = 0;
  unsigned width_of_nanoseconds =
      0;  // with TextStyle::nanoseconds, instead of `width`; 0: the same

  // For kShare and kNumber. `amounts` are the total of an entry if `of_total`, else its own.
  std::uint64_t (*amount)(const Amounts& amounts) = nullptr;
  bool of_total = false;

  // For kText. The text is as long as it needs to be; `is_right` if it is aligned to the right.
  Identity (*identity)(const Hit& hit, const NameTable& names) = nullptr;
  // Less if `a` is printed before `b`.
  std::weak_ordering (*order)(const Hit& a, const Hit& b, const NameTable& names) = nullptr;
  std::string (*text)(const Hit& hit, const NameTable& names, const TextStyle& style) = nullptr;
  // Whether samples of an event need a field of the record, a bit of sample_type; 0 for none.
  std::uint64_t sample_bit = 0;
  // Why perftape does not have it; empty if it does.
  std::string_view refusal = {};

  bool is_number() const { return column != Column::kText; }
};

// All keys, in perf's order, which decides what an abbreviation means.
std::span<const Key> Keys();

// Returns the first key whose word begins with `word`, in any case of letters. Fails with
// kInvalidArgument, naming the option, if there is none or if it is refused.
Result<const Key*> FindKey(std::string_view option, std::string_view word);

// Compares entries that are equal in the order of all keys: as in perf's tree of samples, by
// addresses, which are signed there.
std::weak_ordering CompareAddresses(const Hit& a, const Hit& b, const NameTable& names);

}  // namespace perftape::histogram
