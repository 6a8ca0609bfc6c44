// SPDX-License-Identifier: Apache-2.0
// The rows of all functions of a binary, in the order of the call frame information, and what they
// become: rows in the order of addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "formats/unwind/rule_set.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

class FunctionRows {
 public:
  // Starts a function, which ends at `end`. It must have at least one byte, and less than 4 GiB.
  void StartFunction(std::uint64_t start, std::uint64_t end);
  // The rule from `pc` on, which must not precede that of the row before. A later row at the same
  // address replaces it.
  void AddRow(std::uint64_t pc, std::uint32_t rule);

  bool empty() const { return functions_.empty(); }
  std::size_t functions() const { return functions_.size(); }
  std::size_t rows() const { return rows_.size(); }

  // Sorts what has been added so far, so that Covers() can be called. The order in which functions
  // were added still counts.
  void Sort();
  // Whether one of the sorted functions has all of these addresses.
  bool Covers(std::uint64_t start, std::uint64_t end) const;

  // Calls visit(start, end) for each part of [start, end) that none of the sorted functions has.
  template <class Visit>
  void ForEachGap(std::uint64_t start, std::uint64_t end, const Visit& visit) const {
    for (std::size_t i = 0; i < sorted_ && functions_[i].start < end; ++i) {
      if (functions_[i].start > start) visit(start, functions_[i].start);
      start = std::max(start, functions_[i].end);
    }
    if (start < end) visit(start, end);
  }

  struct Merged {
    std::uint64_t base = 0;
    std::vector<Row> rows;
  };
  // Returns the rule for a gap of less than 16 bytes, from `start` to `end`, after a function whose
  // last rule is `before`.
  using GapRule =
      std::function<std::uint32_t(std::uint64_t start, std::uint64_t end, std::uint32_t before)>;
  // Merges the functions. Where some overlap, the one that was added first counts. Leaves out
  // functions that are 4 GiB or more above the first. `gap_rule` is asked about each short gap,
  // except after kEndOfStack, which is never extended. Longer gaps have the rule kNone.
  Merged Merge(const GapRule& gap_rule);

 private:
  struct Function {
    std::uint64_t start = 0, end = 0;
    std::uint32_t order = 0, first_row = 0, row_count = 0;
  };
  struct FunctionRow {
    std::uint32_t offset = 0;  // from the start of the function
    std::uint32_t rule = 0;
  };
  class Output;

  void Append(const Function& function, std::uint64_t start, std::uint64_t end,
              Output& output) const;

  std::vector<Function> functions_;
  std::size_t sorted_ = 0;  // how many at the front are sorted
  std::vector<FunctionRow> rows_;
};

}  // namespace perftape::unwind
