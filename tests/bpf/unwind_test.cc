// SPDX-License-Identifier: Apache-2.0
// The walk of the BPF programs (bpf/unwind.bpf.h) and that of user space (formats/unwind/step.h,
// record/unwind/user_walk.h) with the same rules, registers and memory: both have the same frames,
// and the same reason of the end. The rules and the memory are random, from fixed seeds.
#include <gtest/gtest.h>
#include <linux/types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/unwind/machine_code.h"
#include "formats/unwind/step.h"
#include "record/unwind/process_entries.h"
#include "record/unwind/table_store.h"
#include "record/unwind/user_walk.h"
#include "tests/bpf/kernel_walk.h"
#include "tests/bpf/process_memory.h"
#include "tests/formats/unwind/table_text.h"
#include "tests/support/elf_builder.h"

namespace perftape::record {
namespace {

using unwind::CfaRule;
using unwind::Machine;
using unwind::Registers;
using unwind::Row;
using unwind::Rule;

#if defined(KERNEL_WALK_ARM64)
constexpr Machine kMachine = Machine::kAArch64;
constexpr std::uint16_t kElfMachine = EM_AARCH64;
constexpr std::string_view kCall("\x00\x00\x00\x94", 4), kOther("\x1f\x20\x03\xd5", 4);
#define SUITE UnwindArm64
#else
constexpr Machine kMachine = Machine::kX86_64;
constexpr std::uint16_t kElfMachine = EM_X86_64;
constexpr std::string_view kCall("\xe8\0\0\0\0", 5), kOther("\x90\x90\x90\x90\x90", 5);
#define SUITE UnwindX86
#endif

// The numbers of registers in call frame information, and those without a rule of their own.
constexpr std::size_t kGeneral = kMachine == Machine::kAArch64 ? 31 : 16;
constexpr std::uint32_t kAllGeneral = (std::uint32_t{1} << kGeneral) - 1;
constexpr std::size_t kCx = 2, kLink = kMachine == Machine::kAArch64 ? 30 : 5;
constexpr std::size_t kOthers[] = {0, 1, 2, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

constexpr std::uint64_t kNow = 10'000'000'000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  std::uint64_t Below(std::uint64_t bound) { return generator_() % bound; }
  bool OneIn(std::uint64_t count) { return Below(count) == 0; }
  template <class Value>
  Value OneOf(std::initializer_list<Value> values) {
    return values.begin()[Below(values.size())];
  }

 private:
  std::mt19937_64 generator_;  // the standard defines its numbers
};

// What is mapped. The first mapping has a table, the second was compiled at run time, the table of
// the third is not loaded.
constexpr std::uint64_t kCode = 0x400000, kCodeSize = 0x3000;
constexpr std::uint64_t kCompiled = 0x500000, kNotLoaded = 0x600000, kOtherSize = 0x1000;
constexpr ImageAddress kImage{0x1000};  // of the first row, and of kCode
constexpr std::uint32_t kRowsEnd = kCodeSize - 0x100;

constexpr std::uint64_t kStack = 0x7ffc00000000, kStackSize = 0x4000;
constexpr std::uint64_t kAbsent = 0x7fff00000000;

// A sum of registers of any numbers, also of those that no machine has.
void SetRegisters(Random& random, Rule& rule) {
  rule.cfa = random.OneOf({CfaRule::kRegister, CfaRule::kAtRegister});
  rule.base = static_cast<std::uint8_t>(random.Below(kGeneral));
  if (random.OneIn(4)) rule.base = random.OneOf<std::uint8_t>({2, 3, 6, 7, 29, 31, 32, 255});
  if (random.OneIn(2)) return;
  rule.index = static_cast<std::uint8_t>(random.Below(kGeneral));
  rule.scale = random.OneOf<std::uint8_t>({1, 8, 255});
}

Rule RandomRule(Random& random) {
  Rule rule;
  rule.cfa = random.OneOf({CfaRule::kStackPointer, CfaRule::kStackPointer, CfaRule::kStackPointer,
                           CfaRule::kFramePointer, CfaRule::kFramePointer, CfaRule::kAtStackPointer,
                           CfaRule::kAtFramePointer, CfaRule::kPlt, CfaRule::kUnsupported,
                           CfaRule::kNone});
  if (random.OneIn(8)) SetRegisters(random, rule);
  rule.cfa_offset = 8 * static_cast<std::int32_t>(random.Below(8));
  if (random.OneIn(4)) rule.cfa_offset = 8;
  if (random.OneIn(16)) rule.cfa_offset = static_cast<std::int32_t>(random.Below(256)) - 128;
  rule.ra_offset = -8;
  if (random.OneIn(6)) rule.ra_offset = Rule::kInRegister;
  if (random.OneIn(8)) rule.ra_offset = static_cast<std::int32_t>(random.Below(256)) - 128;
  if (random.OneIn(2)) rule.fp_offset = -16;
  if (random.OneIn(8)) rule.fp_offset = static_cast<std::int32_t>(random.Below(256)) - 128;
  if (random.OneIn(40)) rule.fp_offset = 1 << 30;
  for (std::uint32_t flag = Rule::kSignalFrame; flag <= Rule::kOtherStack; flag <<= 1) {
    const bool is_register = flag == Rule::kReturnInCx && kMachine == Machine::kAArch64;
    if (!is_register && random.OneIn(12)) rule.flags |= static_cast<std::uint8_t>(flag);
  }
  const bool is_loaded = rule.cfa == CfaRule::kAtStackPointer ||
                         rule.cfa == CfaRule::kAtFramePointer || rule.cfa == CfaRule::kAtRegister;
  if (rule.cfa == CfaRule::kPlt) rule.addend = static_cast<std::uint8_t>(random.Below(17));
  if (is_loaded) rule.addend = static_cast<std::uint8_t>(8 * random.Below(4));
  if (random.OneIn(3)) {
    rule.bx_words = random.OneOf<std::int8_t>({Rule::kBxUnknown, -3, -2, -1, 1, 2, 127});
  }
  if (random.OneIn(3)) rule.changed = static_cast<std::uint32_t>(random.Below(1ULL << 32));
  return rule;
}

// A rule of usual code.
Rule UsualRule(Random& random) {
  Rule rule{.cfa_offset = 8 + 8 * static_cast<std::int32_t>(random.Below(8)),
            .ra_offset = -8,
            .cfa = CfaRule::kStackPointer};
  if (random.OneIn(2)) rule.fp_offset = -rule.cfa_offset;
  return rule;
}

// The first instruction of a function, with any of the flags that do not change that.
Rule EntryRule(Random& random) {
  Rule rule{.cfa = CfaRule::kStackPointer};
  if (kMachine == Machine::kX86_64) {
    rule.cfa_offset = 8;
    rule.ra_offset = -8;
  }
  if (random.OneIn(2)) rule.flags = Rule::kDerived;
  return rule;
}

struct TableContent {
  std::vector<Row> rows;
  std::vector<Rule> rules;
};

// What a process is like: with deep stacks of usual code, or with anything.
enum class Kind : std::uint8_t { kUsual, kAnything };

unwind::Table RandomTable(Random& random, Kind kind) {
  auto content = std::make_shared<TableContent>();
  content->rules = {Rule(), Rule{.cfa = CfaRule::kEndOfStack}, EntryRule(random)};
  for (int i = 0; i < 20; ++i) {
    const bool is_usual = kind == Kind::kUsual && i > 0;
    content->rules.push_back(is_usual ? UsualRule(random) : RandomRule(random));
  }
  for (std::uint32_t pc = 0; pc < kRowsEnd;
       pc += 1 + static_cast<std::uint32_t>(random.Below(64))) {
    std::uint32_t rule = 2 + static_cast<std::uint32_t>(random.Below(content->rules.size() - 2));
    if (random.OneIn(kind == Kind::kUsual ? 200 : 12)) rule = 0;
    if (random.OneIn(kind == Kind::kUsual ? 50 : 24)) rule = 1;
    if (random.OneIn(8)) rule = 2;
    content->rows.push_back({.pc = pc, .rule = rule});
    // Some rows hold for pages.
    if (random.OneIn(100)) pc += static_cast<std::uint32_t>(random.Below(0x1800));
  }
  content->rows.push_back({.pc = kRowsEnd, .rule = 0});
  return {kMachine, kImage, content->rows, content->rules, content};
}

std::string RandomCode(Random& random) {
  std::string code;
  while (code.size() < kCodeSize) code += random.OneIn(2) ? kCall : kOther;
  code.resize(kCodeSize);
  return code;
}

std::uint64_t StackAddress(Random& random) {
  const std::uint64_t address = kStack + random.Below(kStackSize);
  return random.OneIn(16) ? address : address & ~std::uint64_t{7};
}

std::uint64_t CodeAddress(Random& random) {
  const std::uint64_t address = kCode + random.Below(kCodeSize);
  if (random.OneIn(2)) return address;
  return kCode + (address - kCode) / kCall.size() * kCall.size();  // behind an instruction
}

// What is on a stack: mostly return addresses and frame pointers.
std::uint64_t RandomWord(Random& random, Kind kind, std::uint64_t address) {
  if (kind == Kind::kUsual && !random.OneIn(20)) return CodeAddress(random);
  const std::uint64_t percent = random.Below(100);
  if (percent < 55) return CodeAddress(random);
  if (percent < 63) return kCompiled + random.Below(kOtherSize);
  if (percent < 64) return kNotLoaded + random.Below(kOtherSize);
  if (percent < 90) return address + 8 * random.Below(40);
  if (percent < 93) return StackAddress(random);
  if (percent < 95) return random.Below(4);
  if (percent < 97) return kAbsent + random.Below(0x1000);
  if (percent < 98) return std::uint64_t{0x5a} << 48 | CodeAddress(random);  // signed, on arm64
  return percent < 99 ? 0 : ~std::uint64_t{0} - random.Below(32);
}

Memory RandomStack(Random& random, Kind kind) {
  Memory memory;
  for (std::uint64_t at = kStack - Memory::kPage; at < kStack + kStackSize; at += 8) {
    memory.WriteWord(at, RandomWord(random, kind, at));
  }
  if (random.OneIn(2)) memory.Remove(kStack + kStackSize / 2);
  return memory;
}

Registers RandomRegisters(Random& random) {
  Registers registers = {.pc = CodeAddress(random), .sp = StackAddress(random)};
  if (random.OneIn(2)) registers.sp = kStack + 8 * random.Below(kStackSize / 32);
  registers.fp = random.OneOf<std::uint64_t>(
      {0, registers.sp + 8 * random.Below(30), StackAddress(random), kAbsent});
  registers.link = random.OneOf<std::uint64_t>({0, CodeAddress(random)});
  if (kMachine == Machine::kX86_64) {
    registers.bx = random.OneOf<std::uint64_t>({0, registers.sp + 64, StackAddress(random)});
    registers.cx = random.OneOf<std::uint64_t>({registers.sp + 64, CodeAddress(random)});
  }
  for (std::uint64_t& word : registers.general) {
    word = random.OneOf<std::uint64_t>({0, 1, registers.sp + 8 * random.Below(30)});
  }
  if (kMachine == Machine::kX86_64) {
    registers.general[kCx] = *registers.cx;
    registers.general[kLink] = *registers.link;
  } else {
    registers.general[kLink] = *registers.link;
  }
  registers.kept = kAllGeneral;
  return registers;
}

kernel_registers ForKernel(const Registers& registers) {
  kernel_registers for_kernel = {.pc = registers.pc,
                                 .sp = registers.sp,
                                 .fp = registers.fp.value_or(0),
                                 .bx = registers.bx.value_or(0),
                                 .general = {},
                                 .kept = registers.kept,
                                 .has_fp = registers.fp ? 1 : 0,
                                 .is_first = registers.link ? 1 : 0,
                                 .is_return = registers.interrupted ? 0 : 1};
  std::ranges::copy(registers.general, for_kernel.general);
  return for_kernel;
}

// What a step leaves of the other registers.
using General = std::map<std::size_t, std::uint64_t>;
General KeptOf(std::span<const std::uint64_t> words, std::uint32_t kept) {
  General general;
  for (const std::size_t number : kOthers) {
    if ((kept >> number & 1) != 0) general[number] = words[number];
  }
  return general;
}

wire_unwind_end EndOf(unwind::StepResult result) {
  switch (result) {
    case unwind::StepResult::kUnreadable:
      return WIRE_END_UNREADABLE;
    case unwind::StepResult::kNoProgress:
      return WIRE_END_NO_PROGRESS;
    case unwind::StepResult::kNoRule:
      return WIRE_END_NO_ROW;
    case unwind::StepResult::kCaller:
    case unwind::StepResult::kEnd:
      break;
  }
  return WIRE_END_OF_STACK;
}

// The memory of a process that has what is mapped above, its code and a stack.
struct Process {
  Process(std::uint64_t seed, Kind kind)
      : random(seed), memory(RandomStack(random, kind)), table(RandomTable(random, kind)) {
    const std::string code = RandomCode(random);
    memory.Write(kCode, std::as_bytes(std::span(code)));
    ElfBuilder elf(ET_EXEC, kElfMachine);
    elf.AddSection({.name = ".text",
                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                    .address = kImage.value,
                    .contents = code});
    binary.emplace(elf::ElfFile::Owning(elf.Build()).value());
    memory.Write(kCompiled, std::as_bytes(std::span(code)).first(kOtherSize));
    memory.Write(kNotLoaded, std::as_bytes(std::span(code)).first(kOtherSize));
    Load();
  }

  void Load() {
    const wire_unwind_mapping mappings[] = {
        MappingOf(kCode, kCodeSize, *store.Add(table, kNow)),
        MappingOf(kCompiled, kOtherSize, WIRE_UNWIND_BY_FP),
        MappingOf(kNotLoaded, kOtherSize, WIRE_UNWIND_UNKNOWN),
    };
    ProcessEntries(maps).Set(KERNEL_WALK_TGID, mappings, kNow);
    const auto array = [](auto& values) {
      return kernel_array{values.data(), static_cast<__u32>(values.size())};
    };
    const kernel_maps for_kernel = {.cells = array(cells),
                                    .rules = array(rules),
                                    .tables = array(tables),
                                    .mappings = array(mapping_memory),
                                    .processes = array(processes)};
    kernel_set_maps(&for_kernel);
  }

  static wire_unwind_mapping MappingOf(std::uint64_t start, std::uint64_t size,
                                       std::uint32_t table) {
    return {.start = start, .end = start + size, .bias = start, .table = table, .pad = 0};
  }

  unwind::Code CodeAt(RuntimeAddress address) const {
    const auto is_in = [&](std::uint64_t start, std::uint64_t size) {
      return address.value >= start && address.value - start < size;
    };
    if (is_in(kCompiled, kOtherSize)) return {.frames_by = unwind::FramesBy::kFramePointer};
    if (is_in(kNotLoaded, kOtherSize)) return {.frames_by = unwind::FramesBy::kUnknown};
    if (!is_in(kCode, kCodeSize)) return {};
    const ImageAddress image{kImage.value + (address.value - kCode)};
    return {.frames_by = unwind::FramesBy::kTable,
            .rule = &table.Find(image),
            .table = &table,
            .binary = &*binary,
            .address = image};
  }

  Random random;
  Memory memory;
  unwind::Table table;
  std::optional<elf::ElfFile> binary;

  std::vector<wire_unwind_cell> cells = std::vector<wire_unwind_cell>(0x4000);
  std::vector<wire_unwind_rule> rules = std::vector<wire_unwind_rule>(64);
  std::vector<wire_unwind_table> tables = std::vector<wire_unwind_table>(4);
  std::vector<wire_unwind_mapping> mapping_memory = std::vector<wire_unwind_mapping>(8);
  std::vector<std::uint64_t> processes = std::vector<std::uint64_t>(WIRE_UNWIND_PROCESSES);
  UnwindMaps maps = {cells, rules, tables, mapping_memory, processes};
  TableStore store = TableStore(maps);
};

// A walk of both sides.
struct Chain {
  std::vector<std::uint64_t> frames;
  std::uint32_t end = WIRE_ENDS;
  bool has_derived = false;

  bool operator==(const Chain&) const = default;
};

void PrintTo(const Chain& chain, std::ostream* out) {
  *out << "end " << chain.end << (chain.has_derived ? ", derived:" : ":") << std::hex;
  for (const std::uint64_t frame : chain.frames) *out << ' ' << frame;
  *out << std::dec;
}

Chain KernelChain(const Process& process, const Registers& registers) {
  const kernel_memory memory = process.memory.ForKernel();
  const kernel_registers first = ForKernel(registers);
  kernel_chain chain = {};
  kernel_walk(&memory, &first, &chain);
  return {.frames = {chain.frames, chain.frames + chain.count},
          .end = chain.end,
          .has_derived = chain.has_derived != 0};
}

Chain UserChain(const Process& process, const Registers& registers) {
  const auto find = [&](RuntimeAddress address) { return process.CodeAt(address); };
  UserWalk walk(kMachine, find, process.memory, WIRE_MAX_USER_FRAMES);
  Chain chain;
  chain.end = walk.Run(registers, chain.frames);
  chain.has_derived = walk.has_derived();
  return chain;
}

TEST(SUITE, BothSidesComputeTheSameRegisters) {
  std::map<std::pair<CfaRule, unwind::StepResult>, int> seen;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const Memory memory = RandomStack(random, Kind::kAnything);
    const kernel_memory for_kernel = memory.ForKernel();
    for (int i = 0; i < 1000; ++i) {
      const Rule rule = RandomRule(random);
      const Registers before = RandomRegisters(random);
      Registers user = before;
      if (random.OneIn(2)) {
        user.link.reset();
        user.cx.reset();
        user.interrupted = false;
        user.kept = static_cast<std::uint32_t>(random.Below(1ULL << 32)) & kAllGeneral;
      }
      kernel_registers kernel = ForKernel(user);
      const auto wire_rule = std::bit_cast<wire_unwind_rule>(rule);
      const unwind::StepResult result = unwind::Step(kMachine, rule, memory, user);
      __u32 end = WIRE_END_OF_STACK;
      const bool has_caller = kernel_step(&for_kernel, &wire_rule, &kernel, &end) == 0;

      SCOPED_TRACE(testing::Message() << "seed " << seed << ", rule " << i);
      ++seen[{rule.cfa, result}];
      ASSERT_EQ(has_caller, result == unwind::StepResult::kCaller);
      ASSERT_EQ(end, EndOf(result));
      if (!has_caller) continue;
      ASSERT_EQ(kernel.pc, user.pc);
      ASSERT_EQ(kernel.sp, user.sp);
      ASSERT_EQ(kernel.has_fp != 0, user.fp.has_value());
      ASSERT_EQ(kernel.fp, user.fp.value_or(0));
      ASSERT_EQ(kernel.bx, user.bx.value_or(0));
      ASSERT_EQ(kernel.is_return != 0, !user.interrupted);
      ASSERT_EQ(kernel.is_first, 0);
      ASSERT_EQ(
          KeptOf(std::vector<std::uint64_t>(kernel.general, kernel.general + 32), kernel.kept),
          KeptOf(user.general, user.kept));
    }
  }
  // Each kind of rule finds callers, and fails.
  for (const CfaRule cfa : {CfaRule::kStackPointer, CfaRule::kFramePointer,
                            CfaRule::kAtStackPointer, CfaRule::kAtFramePointer, CfaRule::kPlt}) {
    for (const unwind::StepResult result :
         {unwind::StepResult::kCaller, unwind::StepResult::kEnd, unwind::StepResult::kNoRule,
          unwind::StepResult::kUnreadable, unwind::StepResult::kNoProgress}) {
      EXPECT_GT((seen[{cfa, result}]), 10)
          << static_cast<int>(cfa) << ' ' << static_cast<int>(result);
    }
  }
  for (const CfaRule cfa : {CfaRule::kRegister, CfaRule::kAtRegister}) {
    EXPECT_GT((seen[{cfa, unwind::StepResult::kCaller}]), 10);
    EXPECT_GT((seen[{cfa, unwind::StepResult::kNoRule}]), 10);
  }
}

// The rules of the frames, for a failure.
std::string RulesOf(const Process& process, const Chain& chain) {
  std::string text;
  for (std::size_t i = 0; i < chain.frames.size(); ++i) {
    const unwind::Code code = process.CodeAt(RuntimeAddress{chain.frames[i] - (i == 0 ? 0 : 1)});
    std::ostringstream line;
    line << "\n" << std::hex << chain.frames[i] << ": ";
    text += line.str() + (code.rule != nullptr ? unwind::OneLine(*code.rule) : "no table");
  }
  return text;
}

TEST(SUITE, BothSidesHaveTheSameFramesAndEnds) {
  std::map<std::uint32_t, int> ends;
  std::set<std::size_t> depths;
  int derived = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Process process(seed, seed % 2 == 0 ? Kind::kUsual : Kind::kAnything);
    for (int i = 0; i < 200; ++i) {
      const Registers registers = RandomRegisters(process.random);
      const Chain kernel = KernelChain(process, registers);
      ASSERT_EQ(kernel, UserChain(process, registers))
          << "seed " << seed << ", walk " << i << RulesOf(process, kernel);
      ++ends[kernel.end];
      derived += kernel.has_derived ? 1 : 0;
      depths.insert(kernel.frames.size());
    }
  }
  for (const wire_unwind_end end :
       {WIRE_END_OF_STACK, WIRE_END_NO_MAPPING, WIRE_END_NO_TABLE, WIRE_END_NO_ROW,
        WIRE_END_UNREADABLE, WIRE_END_NO_PROGRESS, WIRE_END_TOO_DEEP, WIRE_END_NO_FRAME_POINTER}) {
    EXPECT_GT(ends[end], 5) << end;
  }
  EXPECT_GT(derived, 1000);
  EXPECT_GT(depths.size(), 50U);
}

TEST(SUITE, BothSidesSeeThatAProgramHasJustStarted) {
  Process process(1, Kind::kUsual);
  constexpr std::uint64_t kArguments = 2;
  const Registers registers = {.pc = kCode + kRowsEnd, .sp = kStack};
  const std::uint64_t words[] = {kArguments, kStack + 64, kStack + 72, 0};
  process.memory.Write(kStack, std::as_bytes(std::span(words)));
  const Chain complete = {.frames = {registers.pc}, .end = WIRE_END_OF_STACK};
  EXPECT_EQ(KernelChain(process, registers), complete);
  EXPECT_EQ(UserChain(process, registers), complete);
  // No arguments, an argument below the stack, no null pointer.
  const Chain unknown = {.frames = {registers.pc}, .end = WIRE_END_NO_ROW};
  for (const std::size_t changed : {0, 1, 3}) {
    process.memory.WriteWord(kStack + 8 * changed, changed == 3 ? 1 : 0);
    EXPECT_EQ(KernelChain(process, registers), unknown) << changed;
    EXPECT_EQ(UserChain(process, registers), unknown) << changed;
    process.memory.WriteWord(kStack + 8 * changed, words[changed]);
  }
}

#if !defined(KERNEL_WALK_ARM64)
TEST(SUITE, BelievesFramesOf32BitProgramsOnlyBehindCalls) {
  Memory memory;
  memory.Write(kCode, std::vector<std::byte>(0x100, std::byte{0x90}));
  const auto write = [&](std::uint64_t address, std::string_view code) {
    memory.Write(address, AsBytes(code));
  };
  write(kCode + 0x10, std::string_view("\xe8\0\0\0\0", 5));                // call
  write(kCode + 0x20, std::string_view("\x58\xb8\x77\0\0\0\xcd\x80", 8));  // sigreturn
  write(kCode + 0x30, std::string_view("\xb8\xad\0\0\0\xcd\x80\x90", 8));  // rt_sigreturn
  constexpr std::uint64_t kCalled = kCode + 0x15;
  const auto believed = [&](const std::vector<__u64>& frames) {
    const kernel_memory for_kernel = memory.ForKernel();
    return kernel_believed(&for_kernel, frames.data(), static_cast<__u32>(frames.size()));
  };
  EXPECT_EQ(believed({0x160f}), 1U);  // the interrupted instruction
  EXPECT_EQ(believed({kCode, kCalled, kCalled, 0x160f, kCalled}), 3U);
  EXPECT_EQ(believed({kCode, kCode + 0x40, kCalled}), 1U);  // in the code, but behind no call
  EXPECT_EQ(believed({kCode, kCode + 0x20, kCalled, kCode + 0x30, kCalled}), 5U);
}

// User space has no memory without a file.
TEST(SUITE, OnlyTheKernelSideReadsTheCodeOfTrampolines) {
  Process process(1, Kind::kUsual);
  const std::string_view code = "\xff\xd1\x48\x83\xc4\x18\xc3";  // call *%rcx; add $24,%rsp; ret
  process.memory.Write(kCompiled, std::vector<std::byte>(kOtherSize));
  process.memory.Write(kCompiled, std::as_bytes(std::span(code)));
  constexpr std::uint64_t kReturn = kCode + kRowsEnd;
  process.memory.WriteWord(kStack + 24, kReturn);
  const Registers registers = {.pc = kCompiled, .sp = kStack};
  const Chain kernel = KernelChain(process, registers);
  ASSERT_GT(kernel.frames.size(), 1U);
  EXPECT_EQ(kernel.frames[1], kReturn);
  EXPECT_TRUE(kernel.has_derived);
  EXPECT_EQ(UserChain(process, registers).frames, std::vector<std::uint64_t>{kCompiled});
}

// Before and after `push %rbp`, and behind `mov %rsp,%rbp`.
TEST(SUITE, TheKernelSideSeesThatAFunctionHasNotMadeItsFrame) {
  Process process(1, Kind::kUsual);
  const std::string_view code = "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x90\x90\x90";
  process.memory.Write(kCompiled, std::vector<std::byte>(kOtherSize));
  process.memory.Write(kCompiled, std::as_bytes(std::span(code)));
  constexpr std::uint64_t kReturn = kCode + kRowsEnd + 0x20, kFp = kStack + 0x100;
  process.memory.Write(kReturn - kCall.size(), std::as_bytes(std::span(kCall)));
  const auto second_frame = [&](std::uint64_t offset, std::vector<std::uint64_t> words,
                                std::uint64_t fp) {
    process.memory.Write(kStack, std::as_bytes(std::span(words)));
    const Chain chain =
        KernelChain(process, {.pc = kCompiled + offset, .sp = kStack, .fp = fp, .link = 0});
    return chain.frames.size() > 1 ? chain.frames[1] : 0;
  };
  EXPECT_EQ(second_frame(0, {kReturn}, kFp), kReturn);
  EXPECT_EQ(second_frame(4, {kReturn}, kFp), kReturn);
  EXPECT_EQ(second_frame(5, {kFp, kReturn}, kFp), kReturn);
  EXPECT_EQ(second_frame(8, {kFp, kReturn}, kStack), kReturn);
  EXPECT_EQ(second_frame(4, {kReturn + 1}, kFp), 0U) << "follows no call";
}
#endif

// Code that was compiled at run time, with a frame pointer that leads to `record`.
TEST(SUITE, OnlyAWordBehindACallIsTheCallerOfAFramePointer) {
  Process process(1, Kind::kUsual);
  process.memory.Write(kCompiled, std::vector<std::byte>(kOtherSize));
  const auto write_call = [&](std::uint64_t return_address) {
    process.memory.Write(return_address - kCall.size(), std::as_bytes(std::span(kCall)));
  };
  constexpr std::uint64_t kReturn = kCompiled + 0x120, kUnmapped = 0x700020;
  write_call(kReturn);
  write_call(kUnmapped);
  const auto both = [&](std::uint64_t fp, std::vector<std::uint64_t> record) {
    process.memory.Write(kStack + 0x40, std::as_bytes(std::span(record)));
    const Registers registers = {
        .pc = kCompiled + 0x100, .sp = kStack, .fp = fp, .link = 0, .kept = kAllGeneral};
    const Chain kernel = KernelChain(process, registers);
    EXPECT_EQ(kernel, UserChain(process, registers));
    return std::pair(kernel.frames.size(), static_cast<wire_unwind_end>(kernel.end));
  };
  constexpr std::uint64_t kRecord = kStack + 0x40;
  EXPECT_EQ(both(0, {}), std::pair(1UZ, WIRE_END_NO_FRAME_POINTER)) << "any zero";
  EXPECT_EQ(both(kRecord, {0, kReturn}), std::pair(2UZ, WIRE_END_OF_STACK));
  EXPECT_EQ(both(kRecord, {0, kReturn + 8}), std::pair(1UZ, WIRE_END_NO_FRAME_POINTER));
  EXPECT_EQ(both(kRecord, {0, 0xbb8f}), std::pair(1UZ, WIRE_END_NO_FRAME_POINTER));
  EXPECT_EQ(both(kRecord, {0, 0}), std::pair(1UZ, WIRE_END_NO_FRAME_POINTER));
  EXPECT_EQ(both(kRecord, {0, kUnmapped}), std::pair(1UZ, WIRE_END_NO_MAPPING));
  EXPECT_EQ(both(kStack - 64, {}), std::pair(1UZ, WIRE_END_NO_FRAME_POINTER));
}

}  // namespace
}  // namespace perftape::record
