// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/function_rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

namespace perftape::unwind {
namespace {

// Functions are aligned to 16 bytes. The padding between them is shorter.
constexpr std::uint64_t kLongGap = 16;

}  // namespace

void FunctionRows::StartFunction(std::uint64_t start, std::uint64_t end) {
  functions_.push_back({.start = start,
                        .end = end,
                        .order = static_cast<std::uint32_t>(functions_.size()),
                        .first_row = static_cast<std::uint32_t>(rows_.size()),
                        .row_count = 0});
}

void FunctionRows::AddRow(std::uint64_t pc, std::uint32_t rule) {
  Function& function = functions_.back();
  const auto offset = static_cast<std::uint32_t>(pc - function.start);
  if (function.row_count != 0) {
    FunctionRow& last = rows_.back();
    if (last.rule == rule) return;
    if (last.offset == offset) {
      last.rule = rule;
      return;
    }
  }
  rows_.push_back({.offset = offset, .rule = rule});
  ++function.row_count;
}

void FunctionRows::Sort() {
  const auto by_address = [](const Function& a, const Function& b) {
    return std::tie(a.start, a.order) < std::tie(b.start, b.order);
  };
  // Many sections may add few functions each.
  const auto added = functions_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  std::sort(added, functions_.end(), by_address);
  std::inplace_merge(functions_.begin(), added, functions_.end(), by_address);
  sorted_ = functions_.size();
}

bool FunctionRows::Covers(std::uint64_t start, std::uint64_t end) const {
  const std::span<const Function> sorted = std::span(functions_).first(sorted_);
  const auto next = std::ranges::upper_bound(sorted, start, {}, &Function::start);
  return next != sorted.begin() && std::prev(next)->end >= end;
}

// The merged rows, in the order of addresses.
class FunctionRows::Output {
 public:
  Output(std::uint64_t base, const GapRule& gap_rule) : gap_rule_(gap_rule) { merged_.base = base; }

  // A function has rules up to `end`. Before, there is a gap if it starts behind the last end.
  void StartPiece(std::uint64_t start, std::uint64_t end) {
    if (start > end_ && !merged_.rows.empty()) {
      const std::uint32_t before = merged_.rows.back().rule;
      const bool is_long = start - end_ >= kLongGap;
      const bool is_none = is_long || before == RuleSet::kEndOfStack;
      Add(end_, is_none ? RuleSet::kNone : gap_rule_(end_, start, before));
    }
    end_ = end;
  }
  void Add(std::uint64_t pc, std::uint32_t rule) {
    if (!merged_.rows.empty() && merged_.rows.back().rule == rule) return;
    merged_.rows.push_back({.pc = static_cast<std::uint32_t>(pc - merged_.base), .rule = rule});
  }
  Merged Finish() && {
    if (!merged_.rows.empty()) Add(end_, RuleSet::kNone);
    return std::move(merged_);
  }

 private:
  const GapRule& gap_rule_;
  Merged merged_;
  std::uint64_t end_ = 0;
};

void FunctionRows::Append(const Function& function, std::uint64_t start, std::uint64_t end,
                          Output& output) const {
  const std::span<const FunctionRow> rows =
      std::span(rows_).subspan(function.first_row, function.row_count);
  output.StartPiece(start, end);
  auto next = rows.begin();
  if (start != function.start) {
    next = std::ranges::upper_bound(rows, start - function.start, {}, &FunctionRow::offset);
    output.Add(start, std::prev(next)->rule);
  }
  for (; next != rows.end() && function.start + next->offset < end; ++next) {
    output.Add(function.start + next->offset, next->rule);
  }
}

FunctionRows::Merged FunctionRows::Merge(const GapRule& gap_rule) {
  Sort();
  if (functions_.empty()) return {};
  const std::uint64_t base = functions_.front().start;
  std::erase_if(functions_, [&](const Function& function) {
    return function.end - base > std::numeric_limits<std::uint32_t>::max();
  });
  Output output(base, gap_rule);
  // The functions at the current address, the one that was added first on top. Those below it may
  // have ended.
  const auto added_later = [](const Function* a, const Function* b) { return a->order > b->order; };
  std::priority_queue<const Function*, std::vector<const Function*>, decltype(added_later)> active(
      added_later);
  std::uint64_t at = base;
  for (auto next = functions_.begin(); next != functions_.end() || !active.empty();) {
    if (active.empty()) at = next->start;
    for (; next != functions_.end() && next->start == at; ++next) active.push(&*next);
    const Function& top = *active.top();
    const std::uint64_t end = next == functions_.end() ? top.end : std::min(top.end, next->start);
    Append(top, at, end, output);
    at = end;
    while (!active.empty() && active.top()->end <= at) active.pop();
  }
  return std::move(output).Finish();
}

}  // namespace perftape::unwind
