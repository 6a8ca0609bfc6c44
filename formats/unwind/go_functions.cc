// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/go_functions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace perftape::unwind {
namespace {

constexpr std::int32_t kGoWord = kWordSize;
constexpr Rule kUnknownCaller = {.cfa = CfaRule::kUnsupported};
constexpr Rule kNoCaller = {.cfa = CfaRule::kEndOfStack};

// The frame to which rbp points, on whatever stack that is.
constexpr Rule kFrameOnOtherStack = {.cfa_offset = 2 * kGoWord,
                                     .fp_offset = -2 * kGoWord,
                                     .ra_offset = -kGoWord,
                                     .cfa = CfaRule::kFramePointer,
                                     .flags = Rule::kOtherStack,
                                     .addend = 0,
                                     .bx_words = Rule::kBxUnknown};

// The same where another thread may continue on that stack meanwhile.
constexpr Rule kFrameOnLeftStack = [] {
  Rule rule = kFrameOnOtherStack;
  rule.flags |= Rule::kInGap;
  return rule;
}();

// rt_sigreturn(2): the stack pointer is at the ucontext, which has uc_flags, uc_link, uc_stack and
// r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip (arch/x86/include/uapi/asm/sigcontext.h).
constexpr Rule kSignalReturnRule = {.cfa_offset = 160,
                                    .fp_offset = 120,
                                    .ra_offset = 168,
                                    .cfa = CfaRule::kAtStackPointer,
                                    .flags = Rule::kSignalFrame | Rule::kFromStackPointer,
                                    .addend = 0,
                                    .bx_words = Rule::kBxUnknown};

// Whether one of the sections is there that Go's linker makes. Without it, the search for the table
// in all data of a large binary would take longer than to build its unwind table.
bool MayBeGo(const elf::ElfFile& file) {
  constexpr std::string_view kNames[] = {".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo",
                                         ".note.go.buildid"};
  return std::ranges::any_of(
      kNames, [&](std::string_view name) { return file.FindSection(name) != nullptr; });
}

std::uint8_t CodeByte(Bytes code, std::size_t index) {
  return index < code.size() ? std::to_integer<std::uint8_t>(code[index]) : std::uint8_t{0};
}

// Whether an instruction at the start of `code` sets rsp from another register or from memory, or
// aligns it: mov %r,%rsp; mov m,%rsp; and $n,%rsp.
bool SetsStackPointer(Bytes code) {
  constexpr std::uint8_t kRexW = 0x48, kRexRegister = 0x4, kRexBase = 0x1, kStackPointer = 4;
  const std::uint8_t rex = CodeByte(code, 0), opcode = CodeByte(code, 1),
                     mod_rm = CodeByte(code, 2);
  if ((rex & 0xf8) != kRexW) return false;
  const bool to_register = (mod_rm >> 3 & 7) == kStackPointer && (rex & kRexRegister) == 0;
  const bool to_operand = (mod_rm & 0xc7) == (0xc0 | kStackPointer) && (rex & kRexBase) == 0;
  return (opcode == 0x8b && to_register) || (opcode == 0x89 && to_operand) ||
         (opcode == 0x83 && mod_rm == (0xe0 | kStackPointer));
}

// Where the first such instruction from `first` on ends; the end of the code without one. These
// functions are short, and none has an instruction that contains such bytes.
std::size_t AfterStackPointer(Bytes code, std::size_t first = 0) {
  for (std::size_t at = first; at + 3 <= code.size(); ++at) {
    if (!SetsStackPointer(code.subspan(at))) continue;
    const std::uint8_t mod_rm = CodeByte(code, at + 2);
    const bool has_byte = CodeByte(code, at + 1) == 0x83 || mod_rm >> 6 == 1;
    return at + (has_byte ? 4 : 3);
  }
  return code.size();
}

bool IsFrame(const Rule& rule) {
  return rule.cfa == CfaRule::kStackPointer && rule.cfa_offset > kGoWord;
}

// Where the frame pointer has been saved, at the CFA minus 16: behind `push %rbp` since Go 1.21,
// and behind `mov %rbp,n(%rsp)` before. Nothing in functions that save none.
std::optional<std::uint64_t> SavedFramePointerFrom(const GoFunctions::Function& function,
                                                   const std::vector<RuleAt>& rows) {
  constexpr std::uint8_t kPushBp = 0x55;
  const auto frame = std::ranges::find_if(rows, IsFrame, &RuleAt::rule);
  if (frame == rows.end()) return std::nullopt;
  const Bytes code = function.code;
  const std::size_t at = frame->start - function.start;
  const std::int32_t distance = frame->rule.cfa_offset - 2 * kGoWord;
  if (distance == 0 && at > 0 && CodeByte(code, at - 1) == kPushBp) return frame->start;
  if (CodeByte(code, at) != 0x48 || CodeByte(code, at + 1) != 0x89 ||
      CodeByte(code, at + 3) != 0x24) {
    return std::nullopt;
  }
  const std::uint8_t mod_rm = CodeByte(code, at + 2);
  if (mod_rm == 0x6c && distance == CodeByte(code, at + 4)) return frame->start + 5;
  if (mod_rm != 0xac || code.size() < at + 8) return std::nullopt;
  const auto stored = LoadFixed<std::int32_t>(code.data() + at + 4, std::endian::little);
  return stored == distance ? std::optional(frame->start + 8) : std::nullopt;
}

// Makes a row begin at `address`.
void SplitAt(std::uint64_t address, std::vector<RuleAt>& rows) {
  const auto next = std::ranges::upper_bound(rows, address, {}, &RuleAt::start);
  if (next == rows.begin() || std::prev(next)->start == address) return;
  rows.insert(next, {.start = address, .rule = std::prev(next)->rule});
}

void SetRulesFrom(std::uint64_t address, std::uint64_t end, const Rule& rule,
                  std::vector<RuleAt>& rows) {
  if (address >= end) return;
  SplitAt(address, rows);
  SplitAt(end, rows);
  for (RuleAt& row : rows) {
    if (row.start >= address && row.start < end) row.rule = rule;
  }
}

}  // namespace

// Assembler functions have a suffix in some versions.
void GoFunctions::Add(std::string_view name, std::uint64_t start, std::uint64_t end) {
  struct StackUse {
    std::string_view name;
    Stack stack;
  };
  constexpr std::string_view kSuffix = ".abi0";
  constexpr StackUse kUses[] = {
      {"runtime.asmcgocall", Stack::kReturns},
      {"runtime.asmcgocall_landingpad", Stack::kReturns},
      {"runtime.cgocallback", Stack::kCallsBack},
      {"runtime.clone", Stack::kClones},
      {"runtime.goexit", Stack::kOutermost},
      {"runtime.mcall", Stack::kLeaves},
      {"runtime.morestack", Stack::kLeaves},
      {"runtime.mstart", Stack::kOutermost},
      {"runtime.nanotime1", Stack::kReturns},
      {"runtime.rt0_go", Stack::kOutermost},
      {"runtime.systemstack", Stack::kReturns},
      {"runtime.walltime", Stack::kReturns},
      {"time.now", Stack::kReturns},
  };
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  const bool returns_to_kernel =
      name == "runtime.sigreturn" || name == "runtime.sigreturn__sigaction";
  if (returns_to_kernel && machine_ == Machine::kX86_64) {
    signal_returns_.push_back({.start = start - 1, .end = end, .rule = kSignalReturnRule});
  }
  const StackUse* const use = std::ranges::find(kUses, name, &StackUse::name);
  if (use != std::end(kUses)) known_.push_back({.start = start, .stack = use->stack});
}

GoFunctions GoFunctions::Read(const elf::ElfFile& file, Machine machine) {
  GoFunctions found;
  found.machine_ = machine;
  if (!MayBeGo(file)) return found;
  Result<go::PcLineTable> table = go::PcLineTable::Read(file);
  if (!table) return found;
  found.is_go_ = true;
  found.table_ = *std::move(table);
  for (std::uint64_t i = 0; i < found.functions(); ++i) {
    const Range range = found.function(i);
    found.Add(found.table_->name(i), range.start, range.end);
  }
  std::ranges::sort(found.known_, {}, &Known::start);
  return found;
}

GoFunctions::Range GoFunctions::function(std::uint64_t index) const {
  return {.start = table_->entry(index).value, .end = table_->entry(index + 1).value};
}

std::vector<RuleAt> GoFunctions::RowsOf(std::uint64_t index) const {
  std::vector<RuleAt> rows;
  if (machine_ != Machine::kX86_64) return rows;
  constexpr std::int32_t kLargestGoFrame = std::int32_t{1} << 30;
  for (const auto& [start, bytes] : table_->stack_use(index)) {
    Rule rule = {
        .cfa_offset = bytes + kGoWord, .ra_offset = -kGoWord, .cfa = CfaRule::kStackPointer};
    if (bytes < 0 || bytes > kLargestGoFrame) rule = kUnknownCaller;
    if (rows.empty() || rows.back().rule != rule) rows.push_back({.start = start, .rule = rule});
  }
  return rows;
}

void GoFunctions::Correct(const Function& function, std::vector<RuleAt>& rows) const {
  const bool is_x86 = machine_ == Machine::kX86_64;
  if (const auto from = is_x86 ? SavedFramePointerFrom(function, rows) : std::nullopt) {
    SplitAt(*from, rows);
    for (RuleAt& row : rows) {
      const bool is_saved = row.start >= *from && IsFrame(row.rule);
      if (is_saved && row.rule.fp_offset == Rule::kInRegister) row.rule.fp_offset = -2 * kGoWord;
    }
  }
  const auto known = std::ranges::lower_bound(known_, function.start, {}, &Known::start);
  if (known == known_.end() || known->start != function.start) return;
  // On arm64, and without the code, it is not known where the stack changes.
  const bool is_sure = is_x86 && !function.code.empty();
  const std::uint64_t changed = function.start + (is_sure ? AfterStackPointer(function.code) : 0);
  const auto set_from = [&](std::uint64_t start, const Rule& rule) {
    SetRulesFrom(start, function.end, is_sure ? rule : kUnknownCaller, rows);
  };
  switch (known->stack) {
    case Stack::kOutermost:
      return SetRulesFrom(function.start, function.end, kNoCaller, rows);
    case Stack::kClones:
      return set_from(changed, kNoCaller);
    case Stack::kLeaves:
      return set_from(changed, kFrameOnLeftStack);
    case Stack::kReturns:
      return set_from(changed, kFrameOnOtherStack);
    case Stack::kCallsBack: {
      // From C to Go: g0's stack to that of the goroutine that has called C. The word behind the
      // frame there is a mark for Go's own tracebacks (runtime.systemstack_switch, runtime.goexit).
      const std::size_t in_code = changed - function.start;
      const std::uint64_t end = function.start + AfterStackPointer(function.code, in_code);
      return SetRulesFrom(changed, is_sure ? end : function.end,
                          is_sure ? kFrameOnOtherStack : kUnknownCaller, rows);
    }
  }
}

}  // namespace perftape::unwind
