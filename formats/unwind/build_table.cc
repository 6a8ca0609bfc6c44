// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/unwind/call_frame_info.h"
#include "formats/unwind/frame_sections.h"
#include "formats/unwind/function_rows.h"
#include "formats/unwind/go_functions.h"
#include "formats/unwind/machine_code.h"
#include "formats/unwind/rule_set.h"
#include "formats/unwind/table.h"
#include "formats/unwind/undescribed_code.h"

namespace perftape::unwind {
namespace {

constexpr std::int32_t kReturnAddressBytes = 8;  // of x86-64

// The addresses of a function, within one segment.
struct CodeRange {
  std::uint64_t start = 0, end = 0;
};

// Nothing for a function that is no code of the file.
std::optional<CodeRange> RangeOf(std::uint64_t start, std::uint64_t size,
                                 std::span<const elf::Segment> code) {
  if (start == 0 || size == 0) return std::nullopt;
  for (const elf::Segment& segment : code) {
    const std::uint64_t distance = start - segment.address.value;
    if (start < segment.address.value || distance >= segment.size) continue;
    const std::uint64_t in_segment = std::min(size, segment.size - distance);
    if (in_segment > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    if (start + in_segment < start) return std::nullopt;
    return CodeRange{.start = start, .end = start + in_segment};
  }
  return std::nullopt;
}

std::vector<elf::Segment> CodeOf(const elf::ElfFile& file, TableBudget& budget) {
  std::vector<elf::Segment> code;
  for (const elf::Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    if (code.size() == symbol_limits::kCodeSegments) {
      budget.Reached(code.size(), "executable segments");
      break;
    }
    code.push_back(segment);
  }
  return code;
}

// An entry jumps to the function: its frame has the return address only. On x86-64 an entry for a
// lazily bound function then pushes a number, in a push of 5 bytes after a jump of 6 (psABI 5.2.3).
Rule LinkageRule(Machine machine) {
  if (machine == Machine::kAArch64) return {.cfa = CfaRule::kStackPointer};
  return {.cfa_offset = 8, .ra_offset = -8, .cfa = CfaRule::kPlt, .addend = 11};
}

struct OwnedRows {
  FunctionRows::Merged merged;
  std::vector<Rule> rules;
};

class TableBuilder {
 public:
  TableBuilder(const elf::ElfFile& file, Machine machine, TableBudget& budget)
      : file_(file),
        machine_(machine),
        go_(GoFunctions::Read(file, machine)),
        budget_(budget),
        code_(CodeOf(file, budget)),
        rules_(budget.limits().rules) {}

  // Adds what is known better than from the sections.
  void AddKnownFunctions() {
    for (const GoFunctions::SignalReturn& function : go_.signal_returns()) {
      const auto range = RangeOf(function.start, function.end - function.start, code_);
      if (!range) continue;
      if (IsFull()) return;
      functions_.StartFunction(range->start, range->end);
      functions_.AddRow(range->start, rules_.Add(function.rule));
    }
  }

  // Adds the functions that were not added from the sections before. Debug builds have the same
  // functions in .eh_frame and .debug_frame.
  void AddSection(const FrameSection& section) {
    functions_.Sort();
    CallFrameInfo info(section, budget_);
    while (const auto entry = info.Next()) {
      const auto range = RangeOf(entry->start, entry->size, code_);
      if (!range || functions_.Covers(range->start, range->end)) continue;
      if (IsFull()) return;
      AddFunction(*entry, *range);
    }
  }

  // Adds the functions of Go that no section has described.
  void AddGoFunctions() {
    functions_.Sort();
    for (std::uint64_t i = 0; i < go_.functions(); ++i) {
      if (IsFull() || budget_.MustStop()) return;
      const auto [start, end] = go_.function(i);
      const auto range = end > start ? RangeOf(start, end - start, code_) : std::nullopt;
      if (!range || functions_.Covers(range->start, range->start + 1)) continue;
      rows_ = go_.RowsOf(i);
      if (rows_.empty() || rows_.front().start != range->start) continue;
      functions_.StartFunction(range->start, range->end);
      AddCorrectedRows(*range);
    }
  }

  // Adds the procedure linkage tables if there are functions. mold and lld write no call frame
  // information for them.
  void AddLinkageTables() {
    if (functions_.empty()) return;
    functions_.Sort();
    for (const elf::Section& section : file_.sections()) {
      if (!section.name.starts_with(".plt") || !section.is_code()) continue;
      const auto range = RangeOf(section.address, section.size, code_);
      if (!range || functions_.Covers(range->start, range->end)) continue;
      if (IsFull()) return;
      functions_.StartFunction(range->start, range->end);
      functions_.AddRow(range->start, rules_.Add(LinkageRule(machine_)));
    }
  }

  // Adds the byte before each function that StartsContext: the functions that return there are
  // looked up by it.
  void AddContextStarts() {
    functions_.Sort();
    for (const std::uint64_t start : context_starts_) {
      if (IsFull()) return;
      functions_.StartFunction(start - 1, start);
      functions_.AddRow(start - 1, RuleSet::kEndOfStack);
    }
  }

  // Adds rules for code that no section describes.
  void AddDerived() { AddDerivedRules(file_, budget_, functions_, rules_); }

  OwnedRows Finish() &&;

 private:
  bool IsFull();
  bool HasNoRoomForRows();
  void AddFunction(const FrameEntry& entry, const CodeRange& range);
  bool StartsContext(const CodeRange& range, const Rule& first) const;
  void AddCorrectedRows(const CodeRange& range);
  std::uint32_t GapRule(std::uint64_t start, std::uint64_t end, std::uint32_t before);

  const elf::ElfFile& file_;
  Machine machine_;
  GoFunctions go_;
  TableBudget& budget_;
  std::vector<elf::Segment> code_;
  std::uint64_t searched_headers_ = 0;  // for gaps
  FunctionRows functions_;
  RuleSet rules_;
  std::vector<std::uint64_t> context_starts_;
  std::vector<RuleAt> rows_;  // scratch
};

bool TableBuilder::IsFull() {
  const std::size_t limit = budget_.limits().functions;
  if (functions_.functions() < limit) return HasNoRoomForRows();
  budget_.Reached(limit, "functions");
  return true;
}

bool TableBuilder::HasNoRoomForRows() {
  const TableLimits& limits = budget_.limits();
  if (functions_.rows() >= limits.rows) budget_.Reached(limits.rows, "rows");
  if (rules_.has_overflowed()) budget_.Reached(limits.rules, "rules");
  return functions_.rows() >= limits.rows || rules_.has_overflowed();
}

void TableBuilder::AddFunction(const FrameEntry& entry, const CodeRange& range) {
  const CommonEntry& common = *entry.common;
  functions_.StartFunction(range.start, range.end);
  FrameProgram program(entry.instructions, common.context, range.start);
  rows_.clear();
  while (program.NextRow() && program.start() < range.end) {
    if (HasNoRoomForRows() || budget_.MustStop()) {
      functions_.AddRow(program.start(), RuleSet::kNone);
      return;
    }
    const Rule rule = RuleOf(program.state(), common.context.machine, common.signal_frame);
    if (program.start() == range.start && StartsContext(range, rule)) {
      context_starts_.push_back(range.start);
      return functions_.AddRow(range.start, RuleSet::kEndOfStack);
    }
    if (go_.is_go()) {
      rows_.push_back({.start = program.start(), .rule = rule});
    } else {
      functions_.AddRow(program.start(), rules_.Add(rule));
    }
  }
  if (go_.is_go()) AddCorrectedRows(range);
  if (!program.ok() && program.next_start() < range.end) {
    functions_.AddRow(program.next_start(), RuleSet::kNone);
  }
}

// Whether a function takes its stack pointer from a register that calls preserve, before anything
// else: glibc's __start_context, to which the function of a context returns (makecontext). Its call
// frame information is that of a function that was called.
bool TableBuilder::StartsContext(const CodeRange& range, const Rule& first) const {
  constexpr std::uint64_t kLongest = 128;
  const std::uint64_t size = range.end - range.start;
  if (machine_ != Machine::kX86_64 || go_.is_go() || size > kLongest) return false;
  if (first.cfa != CfaRule::kStackPointer || first.cfa_offset != kReturnAddressBytes) return false;
  return BeginsWithStackPointer(CodeBytes(file_, ImageAddress{range.start}, size));
}

void TableBuilder::AddCorrectedRows(const CodeRange& range) {
  const Bytes code = CodeBytes(file_, ImageAddress{range.start}, range.end - range.start);
  go_.Correct({.start = range.start, .end = range.end, .code = code}, rows_);
  for (const RuleAt& row : rows_) {
    if (row.start < range.end) functions_.AddRow(row.start, rules_.Add(row.rule));
  }
}

// Padding is never executed. It keeps the rule before it, because a row for it would cost as much
// as one for code. A file without its code has rows for all gaps.
std::uint32_t TableBuilder::GapRule(std::uint64_t start, std::uint64_t end, std::uint32_t before) {
  Rule rule = rules_.rules()[before];
  if (rule.cfa == CfaRule::kNone || rule.cfa == CfaRule::kUnsupported) return before;
  // Each gap looks through the sections or segments, of which a file can have very many.
  searched_headers_ += file_.sections().size() + file_.segments().size();
  if (searched_headers_ > symbol_limits::kSearchedHeaders) return RuleSet::kNone;
  if (IsPadding(machine_, CodeBytes(file_, ImageAddress{start}, end - start))) return before;
  if ((rule.flags & Rule::kSignalFrame) != 0) return RuleSet::kNone;
  rule.flags |= Rule::kInGap;
  return rules_.Add(rule);
}

OwnedRows TableBuilder::Finish() && {
  OwnedRows owned;
  owned.merged =
      functions_.Merge([this](std::uint64_t start, std::uint64_t end, std::uint32_t before) {
        return GapRule(start, end, before);
      });
  owned.rules = std::move(rules_).Finish();
  return owned;
}

}  // namespace

Result<Table> Table::Build(const elf::ElfFile& file, const TableLimits& limits) {
  const std::optional<Machine> machine = MachineOf(file);
  if (!machine) {
    return Fail(ErrorCode::kUnsupported,
                "call frame information of this processor is not supported");
  }
  TableBudget budget(limits);
  TableBuilder builder(file, *machine, budget);
  builder.AddKnownFunctions();
  for (const FrameSection& section : EhFrameSections(file, *machine)) builder.AddSection(section);
  if (const auto debug_frame = ReadDebugFrameSection(file, *machine)) {
    builder.AddSection(debug_frame->section);
  }
  builder.AddGoFunctions();
  builder.AddLinkageTables();
  builder.AddContextStarts();
  builder.AddDerived();
  const auto owned = std::make_shared<const OwnedRows>(std::move(builder).Finish());
  Table table(*machine, ImageAddress{owned->merged.base}, owned->merged.rows, owned->rules, owned);
  table.limit_reached_ = budget.reason();
  return table;
}

}  // namespace perftape::unwind
