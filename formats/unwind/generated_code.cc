// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/generated_code.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "formats/unwind/call_frame_info.h"
#include "formats/unwind/function_rows.h"
#include "formats/unwind/rule_set.h"

namespace perftape::unwind {
namespace {

struct GeneratedRows {
  FunctionRows::Merged merged;
  std::vector<Rule> rules;
};

// Nothing is known of what is between two functions.
std::uint32_t RuleBetween(std::uint64_t, std::uint64_t, std::uint32_t) {
  return RuleSet::kNone;
}

class GeneratedTableBuilder {
 public:
  GeneratedTableBuilder(Machine machine, std::endian order) : machine_(machine), order_(order) {}

  void Add(const GeneratedFunction& function) {
    constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint32_t>::max();
    if (function.size == 0 || function.size > kMostBytes) return;
    if (function.size > ~std::uint64_t{0} - function.start) return;
    CallFrameInfo info({.bytes = function.eh_frame,
                        .order = order_,
                        .machine = machine_,
                        .bases = {.section = function.eh_frame_address}},
                       budget_);
    const std::uint64_t end = function.start + function.size;
    while (const auto entry = info.Next()) {
      if (entry->start < function.start || entry->start >= end || entry->size == 0) continue;
      AddRows(*entry, entry->start + std::min(entry->size, end - entry->start));
    }
  }

  Table Finish() && {
    const auto owned = std::make_shared<const GeneratedRows>(GeneratedRows{
        .merged = functions_.Merge(RuleBetween), .rules = std::move(rules_).Finish()});
    return {machine_, ImageAddress{owned->merged.base}, owned->merged.rows, owned->rules, owned};
  }

 private:
  void AddRows(const FrameEntry& entry, std::uint64_t end) {
    const CommonEntry& common = *entry.common;
    functions_.StartFunction(entry.start, end);
    FrameProgram program(entry.instructions, common.context, entry.start);
    functions_.AddRow(entry.start, RuleSet::kNone);
    while (program.NextRow() && program.start() < end) {
      const Rule rule = RuleOf(program.state(), common.context.machine, common.signal_frame);
      functions_.AddRow(program.start(), rules_.Add(rule));
    }
    if (!program.ok() && program.next_start() < end) {
      functions_.AddRow(program.next_start(), RuleSet::kNone);
    }
  }

  Machine machine_;
  std::endian order_;
  FunctionRows functions_;
  TableBudget budget_{TableLimits{}};
  RuleSet rules_{symbol_limits::kFrameRules};
};

}  // namespace

Table BuildTable(Machine machine, std::endian order, std::span<const GeneratedFunction> functions) {
  GeneratedTableBuilder builder(machine, order);
  for (const GeneratedFunction& function : functions) builder.Add(function);
  return std::move(builder).Finish();
}

}  // namespace perftape::unwind
