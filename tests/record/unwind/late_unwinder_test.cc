// SPDX-License-Identifier: Apache-2.0
// Messages of which the user frames are missing. The process is this test: its mappings are read
// from /proc, its tables from its own files, and its stack is the one that runs here.
#include "record/unwind/late_unwinder.h"

#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/unwind/machine_code.h"
#include "record/processes/proc_snapshot.h"
#include "record/rings/wire_decoder.h"
#include "record/unwind/user_walk.h"
#include "tests/record/records.h"
#include "tests/support/elf_builder.h"
#include "tests/support/gap_program.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;

#if defined(__aarch64__)
constexpr std::size_t kProgramCounter = 32;
#else
constexpr std::size_t kProgramCounter = 16;
#endif

struct Unfinished {
  wire_sample sample = {};
  std::vector<std::uint64_t> user = {1};
  wire_user_state state = {};
  std::vector<std::byte> stack;

  std::vector<std::byte> bytes() const {
    wire_sample head = sample;
    head.user_frames = static_cast<__u16>(user.size());
    std::vector<std::byte> bytes;
    const auto append = [&](Bytes some) { bytes.insert(bytes.end(), some.begin(), some.end()); };
    const std::uint64_t size = stack.size();
    append(std::as_bytes(std::span(&head, 1)));
    append(std::as_bytes(std::span(user)));
    append(std::as_bytes(std::span(&state, 1)));
    append(stack);
    append(std::as_bytes(std::span(&size, 1)));
    head.header.size = static_cast<__u32>(bytes.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
  }
};

Unfinished InThisProcess() {
  Unfinished message;
  message.sample.header.type = WIRE_SAMPLE;
  message.sample.pid = message.sample.tid = static_cast<__u32>(getpid());
  message.sample.mode = WIRE_MODE_USER;
  message.sample.flags = WIRE_HAS_USER_STATE | WIRE_UNFINISHED;
  message.state.abi = 2;
  return message;
}

// The registers and the stack of the caller's callees.
[[gnu::noinline]] Unfinished OfThisStack() {
  Unfinished message = InThisProcess();
  ucontext_t context = {};
  getcontext(&context);
#if defined(__aarch64__)
  std::memcpy(message.state.regs, context.uc_mcontext.regs, sizeof context.uc_mcontext.regs);
  message.state.regs[31] = context.uc_mcontext.sp;
  message.state.regs[32] = context.uc_mcontext.pc;
#else
  message.state.regs[4] = static_cast<__u64>(context.uc_mcontext.gregs[REG_RBP]);
  message.state.regs[16] = static_cast<__u64>(context.uc_mcontext.gregs[REG_RIP]);
  message.state.regs[19] = static_cast<__u64>(context.uc_mcontext.gregs[REG_RSP]);
  // The kernel copies it: a sanitizer would refuse a read across the variables of several
  // functions.
  message.stack.resize(4096);
  const iovec copy = {.iov_base = message.stack.data(), .iov_len = message.stack.size()};
  const iovec stack = {.iov_base = reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RSP]),
                       .iov_len = message.stack.size()};
  EXPECT_EQ(process_vm_readv(getpid(), &copy, 1, &stack, 1, 0), ssize_t{4096});
#endif
  return message;
}

class LateUnwinding : public testing::Test {
 protected:
  void KnowThisProcess() {
    const std::uint32_t pids[] = {static_cast<std::uint32_t>(getpid())};
    std::vector<std::byte> records;
    ASSERT_TRUE(SnapshotProcesses("/proc", pids, kTestFormat, records));
    ASSERT_TRUE(unwinder_.ApplyAll(records));
  }
  std::vector<std::uint64_t> FramesOf(const Unfinished& message) {
    const std::vector<std::byte> bytes = message.bytes();
    const Result<Bytes> finished = unwinder_.Finish(bytes);
    if (!finished) return {};
    const Result<WireMessage> whole = ReadWireMessage(*finished);
    EXPECT_TRUE(whole);
    EXPECT_FALSE(whole->user_state);
    EXPECT_FALSE(IsUnfinished(*finished));
    std::vector<std::uint64_t> frames;
    for (const std::uint64_t frame : WordArray(whole->user_frames, std::endian::native)) {
      frames.push_back(frame);
    }
    return frames;
  }

  KnownBinaries binaries_;
  OthersFiles files_;
  LoadTimes loads_;
  LateUnwinder unwinder_{
      binaries_, files_, loads_, {.format = kTestFormat, .events = 2, .keeps_user_state = false}};
};

TEST_F(LateUnwinding, WalksACopiedStack) {
  KnowThisProcess();
  const Unfinished message = OfThisStack();
  const std::vector<std::uint64_t> frames = FramesOf(message);
  ASSERT_GT(frames.size(), 2U);
  EXPECT_EQ(frames.front(), message.state.regs[16]);
  const auto body = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  EXPECT_THAT(frames, testing::Contains(body));  // the caller of this test
  EXPECT_EQ(unwinder_.EndsOf(1)[WIRE_END_OF_STACK], 0U);
}

TEST_F(LateUnwinding, CountsByEvent) {
  Unfinished message = InThisProcess();
  message.sample.event = 1;
  EXPECT_THAT(FramesOf(message), ElementsAre(1U));  // the frames of the kernel side stay
  EXPECT_EQ(unwinder_.EndsOf(1)[WIRE_END_NO_PROCESS], 1U);
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_NO_PROCESS], 0U);
}

TEST_F(LateUnwinding, AnAddressWithoutMapping) {
  KnowThisProcess();
  EXPECT_THAT(FramesOf(InThisProcess()), ElementsAre(1U));
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_NO_MAPPING], 1U);
}

TEST_F(LateUnwinding, RegistersOf32BitCodeAreNotWalked) {
  Unfinished message = InThisProcess();
  message.state.abi = 1;
  message.user = {3, 4};
  EXPECT_THAT(FramesOf(message), ElementsAre(3U, 4U));
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_COMPAT], 1U);
}

TEST_F(LateUnwinding, RefusesDamagedMessages) {
  const std::vector<std::byte> whole = InThisProcess().bytes();
  for (std::size_t size = sizeof(wire_sample); size < whole.size(); ++size) {
    EXPECT_FALSE(unwinder_.Finish(Bytes(whole).first(size)));
  }
  Unfinished other_event = InThisProcess();
  other_event.sample.event = 2;
  EXPECT_FALSE(unwinder_.Finish(other_event.bytes()));
}

TEST_F(LateUnwinding, AProgramReplacesTheMappings) {
  KnowThisProcess();
  const auto pid = static_cast<std::uint32_t>(getpid());
  unwinder_.Apply(
      RecordOf(perfdata::Comm{.pid = pid, .tid = pid, .comm = "next"}, 5, perfdata::kMiscCommExec));
  (void)FramesOf(OfThisStack());
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_NO_PROCESS], 1U);
}

TEST(BinaryReader, SearchesNoFileForMemoryOfTheKernel) {
  const auto never_answers = []() -> Status {
    while (true) pause();
  };
  const std::shared_ptr<OthersFiles> files = OthersFiles::Start(never_answers).value();
  const unwind::TableCache cache("");
  perfdata::Dso dso;
  dso.path = "[vsyscall]";
  perfdata::Region region;
  region.start = 0xffffffffff600000;
  region.end = 0xffffffffff601000;
  region.dso = &dso;
  EXPECT_FALSE(BinaryReader(*files, cache).Read(static_cast<std::uint32_t>(getpid()), region));
  EXPECT_EQ(files->told(), std::vector<std::string>());
}

TEST_F(LateUnwinding, KeepsNoTableThatTheLoaderHasForgotten) {
  KnowThisProcess();
  const auto pid = static_cast<std::uint32_t>(getpid());
  std::vector<std::byte> records;
  const std::uint32_t pids[] = {pid};
  ASSERT_TRUE(SnapshotProcesses("/proc", pids, kTestFormat, records));
  perfdata::Processes processes;
  for (const perfdata::RecordView& record : RecordsIn(records)) {
    processes.Apply(record, kTestFormat);
  }
  const unwind::TableCache cache("");
  const BinaryReader reader(files_, cache);
  std::vector<std::weak_ptr<const BinaryContents>> contents;
  std::vector<const perfdata::Dso*> dsos;
  processes.UserSpace(pid).ForEach([&](const perfdata::Region& region) {
    auto read = reader.Read(pid, region);
    if (!read) return;
    contents.emplace_back(*read);
    dsos.push_back(region.dso);
    binaries_.Add(*region.dso, *std::move(read));
  });
  ASSERT_GT(FramesOf(OfThisStack()).size(), 2U);
  for (const perfdata::Dso* dso : dsos) binaries_.Remove(*dso);
  for (const auto& binary : contents) EXPECT_TRUE(binary.expired());
  EXPECT_GT(FramesOf(OfThisStack()).size(), 2U) << "it reads them itself";
}

TEST_F(LateUnwinding, RemovesWhatTheKernelSideHasFoundByAnOldMapping) {
  for (const std::uint64_t inode : {1, 2}) {
    unwinder_.Apply(RecordOf(perfdata::Mmap2{.pid = 7,
                                             .tid = 7,
                                             .start = 0x1000,
                                             .length = 0x1000,
                                             .inode = inode,
                                             .protection = 5,
                                             .filename = "/lib/x.so"},
                             100 * inode, perfdata::MiscOf(perfdata::CpuMode::kUser)));
  }
  const std::uint64_t frames[] = {0x9000, 0x1010, 0x9100};
  wire_sample sample = {};
  sample.header = {
      .type = WIRE_SAMPLE, .cpu = 0, .size = sizeof sample + sizeof frames, .time_ns = 250};
  sample.pid = 7;
  sample.mode = WIRE_MODE_USER;
  sample.user_frames = 3;
  sample.flags = WIRE_WAS_COMPLETE | WIRE_WAS_DERIVED;
  const auto frames_of = [&](const wire_sample& head) {
    std::vector<std::byte> message;
    for (const Bytes part :
         {Bytes(std::as_bytes(std::span(&head, 1))), Bytes(std::as_bytes(std::span(frames)))}) {
      message.insert(message.end(), part.begin(), part.end());
    }
    return ReadWireMessage(unwinder_.WithSureFrames(message)).value().sample.user_frames;
  };
  EXPECT_EQ(frames_of(sample), 2);
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_NO_TABLE], 1U);
  EXPECT_EQ(unwinder_.ShortenedOf(0).complete, 1U);
  EXPECT_EQ(unwinder_.ShortenedOf(0).derived, 1U);
  sample.flags = 0;
  EXPECT_EQ(frames_of(sample), 2);
  EXPECT_EQ(unwinder_.ShortenedOf(0).complete, 1U) << "it was counted as incomplete";
  sample.walked_ns = 150;
  EXPECT_EQ(frames_of(sample), 3) << "walked before the change";
}

// This process maps a file with code of this size that no table describes.
class UndescribedCode {
 public:
  explicit UndescribedCode(std::size_t size) : size_(size) {
    ElfBuilder elf;
    elf.AddSection({.name = ".text",
                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                    .address = 0x401000,
                    .contents = std::string(size, '\x90'),
                    .offset = kOffset});
    elf.AddSegment({.offset = kOffset, .address = 0x401000, .size = size});
    const int file =
        open(directory_.Write("program", AsText(elf.Build())).c_str(), O_RDONLY | O_CLOEXEC);
    code_ = mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, kOffset);
    close(file);
  }
  UndescribedCode(const UndescribedCode&) = delete;
  UndescribedCode& operator=(const UndescribedCode&) = delete;
  ~UndescribedCode() { munmap(code_, size_); }

  std::uint64_t middle() const { return reinterpret_cast<std::uint64_t>(code_) + size_ / 2; }

 private:
  static constexpr off_t kOffset = 0x1000;
  TempDir directory_;
  std::size_t size_;
  void* code_;
};

// The rings are not drained while a table is made, and rules from instructions take long.
TEST_F(LateUnwinding, DoesNotReadABinaryWithMuchUndescribedCode) {
  const UndescribedCode little(4096), much(std::size_t{512} << 10);
  KnowThisProcess();
  Unfinished message = InThisProcess();
  message.state.regs[kProgramCounter] = little.middle();
  (void)FramesOf(message);
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_NO_TABLE], 0U);
  message.state.regs[kProgramCounter] = much.middle();
  (void)FramesOf(message);
  EXPECT_EQ(unwinder_.EndsOf(0)[WIRE_END_NO_TABLE], 1U);
}

// A walk in which all code is at the same address, and the stack is these words.
wire_unwind_end Walk(unwind::FramesBy frames_by, unwind::Registers registers,
                     const std::vector<std::uint64_t>& stack, std::vector<std::uint64_t>& frames) {
  static const unwind::Rule kNoRule;
  const auto find = [&](RuntimeAddress address) {
    unwind::Code code;
    if (address.value < 0x1000) return code;
    code.frames_by = frames_by;
    code.rule = &kNoRule;
    return code;
  };
  const unwind::StackCopy read(0x7000, std::as_bytes(std::span(stack)));
  return UserWalk(unwind::Machine::kX86_64, find, read, WIRE_MAX_FRAMES).Run(registers, frames);
}

TEST(UserWalk, FramePointersOfCodeWithoutTable) {
  std::vector<std::uint64_t> frames;
  EXPECT_EQ(Walk(unwind::FramesBy::kFramePointer,
                 {.pc = 0x2000, .sp = 0x7000, .fp = 0x7008, .link = {}, .interrupted = true},
                 {9, 0x7018, 0x3000, 0, 0x4000}, frames),
            WIRE_END_OF_STACK);
  EXPECT_THAT(frames, ElementsAre(0x2000U, 0x3000U, 0x4000U));
  EXPECT_EQ(
      Walk(unwind::FramesBy::kFramePointer,
           {.pc = 0x2000, .sp = 0x7000, .fp = 0x6000, .link = {}, .interrupted = true}, {}, frames),
      WIRE_END_NO_FRAME_POINTER);
  EXPECT_EQ(Walk(unwind::FramesBy::kFramePointer,
                 {.pc = 0x2000, .sp = 0x7000, .fp = 0x7008, .link = {}, .interrupted = true},
                 {9, 0x7018, 0x3000, 0, 0}, frames),
            WIRE_END_NO_FRAME_POINTER);
  EXPECT_THAT(frames, ElementsAre(0x2000U, 0x3000U));
  EXPECT_EQ(
      Walk(unwind::FramesBy::kFramePointer,
           {.pc = 0x2000, .sp = 0x7000, .fp = 0, .link = {}, .interrupted = true}, {}, frames),
      WIRE_END_NO_FRAME_POINTER)
      << "it may be any zero";
}

TEST(UserWalk, TheStartOfAProgramIsItsEnd) {
  std::vector<std::uint64_t> frames;
  const unwind::Registers start = {
      .pc = 0x2000, .sp = 0x7000, .fp = 0, .link = {}, .interrupted = true};
  EXPECT_EQ(Walk(unwind::FramesBy::kTable, start, {2, 0x7100, 0x7104, 0}, frames),
            WIRE_END_OF_STACK);
  EXPECT_EQ(Walk(unwind::FramesBy::kTable, start, {2, 0x7100, 0x7104, 1}, frames), WIRE_END_NO_ROW);
  EXPECT_EQ(Walk(unwind::FramesBy::kTable, start, {0, 0x7100, 0}, frames), WIRE_END_NO_ROW);
  EXPECT_EQ(Walk(unwind::FramesBy::kTable, start, {}, frames), WIRE_END_NO_ROW);
  EXPECT_EQ(frames.size(), 1U);
}

// The caller has a rule that was derived from its instructions.
TEST(UserWalk, TellsWhetherItNeedsARuleFromInstructions) {
  const unwind::Rule plain = {
      .cfa_offset = 8, .ra_offset = -8, .cfa = unwind::CfaRule::kStackPointer};
  unwind::Rule derived = plain;
  derived.flags = unwind::Rule::kDerived;
  const auto find = [&](RuntimeAddress address) -> unwind::Code {
    const unwind::Rule& rule = address.value < 0x3000 ? plain : derived;
    return {.frames_by = unwind::FramesBy::kTable, .rule = &rule};
  };
  std::vector<std::uint64_t> frames;
  const auto needs_it = [&](std::vector<std::uint64_t> stack) {
    const unwind::StackCopy read(0x7000, std::as_bytes(std::span(stack)));
    UserWalk walk(unwind::Machine::kX86_64, find, read, WIRE_MAX_FRAMES);
    EXPECT_EQ(
        walk.Run({.pc = 0x2000, .sp = 0x7000, .fp = 0, .link = {}, .interrupted = true}, frames),
        WIRE_END_OF_STACK);
    return walk.has_derived();
  };
  EXPECT_FALSE(needs_it({0x2100, 0}));
  EXPECT_TRUE(needs_it({0x3100, 0x2200, 0}));
}

// The walk from the gap of a GapProgram, with a word on top of the stack.
wire_unwind_end WalkFromGap(std::uint64_t word, std::vector<std::uint64_t>& frames) {
  using unwind::GapProgram;
  const std::vector<std::byte> image = GapProgram::Build();
  const Result<elf::ElfFile> file = elf::ElfFile::FromBytes(image);
  if (!file) return WIRE_ENDS;
  const Result<unwind::Table> table = unwind::Table::Build(*file);
  const auto find = [&](RuntimeAddress address) {
    unwind::Code code;
    code.frames_by = unwind::FramesBy::kTable;
    code.address = ImageAddress{address.value};
    code.rule = &table->Find(code.address);
    code.table = &*table;
    code.binary = &*file;
    return code;
  };
  const std::uint64_t words[] = {word};
  const unwind::StackCopy read(0x7000, std::as_bytes(std::span(words)));
  return UserWalk(unwind::Machine::kX86_64, find, read, WIRE_MAX_FRAMES)
      .Run({.pc = GapProgram::kGap, .sp = 0x7000}, frames);
}

TEST(UserWalk, InAGapItBelievesAReturnAddressOnlyAfterACall) {
  using unwind::GapProgram;
  std::vector<std::uint64_t> frames;
  EXPECT_EQ(WalkFromGap(GapProgram::kAfterCall, frames), WIRE_END_OF_STACK);
  EXPECT_THAT(frames, ElementsAre(GapProgram::kGap, GapProgram::kAfterCall));
  EXPECT_EQ(WalkFromGap(GapProgram::kThread, frames), WIRE_END_NO_ROW);
  EXPECT_THAT(frames, ElementsAre(GapProgram::kGap));
}

// The BPF programs have a function of their own.
TEST(UserWalk, TheKernelSideRecognizesTheSameCalls) {
  const auto ends_with_call = [](std::uint64_t word) {
#if defined(__aarch64__)
    const unwind::Machine machine = unwind::Machine::kAArch64;
#else
    const unwind::Machine machine = unwind::Machine::kX86_64;
#endif
    return unwind::EndsWithCall(machine, std::as_bytes(std::span(&word, 1)));
  };
  int calls = 0;
  std::uint64_t random = 1;
  for (int i = 0; i < 200000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    // Somewhere `call *`, with any operand.
    const int shift = 8 * (i % 7);
    const std::uint64_t word = (random & ~(std::uint64_t{0xff} << shift)) |
                               (i % 2 == 0 ? std::uint64_t{0xff} << shift : 0);
    ASSERT_EQ(wire_ends_with_call(word) != 0, ends_with_call(word)) << std::hex << word;
    calls += wire_ends_with_call(word);
  }
  EXPECT_GT(calls, 100);
}

TEST(UserWalk, TheKernelSideRecognizesTheSameReturnEntries) {
  constexpr std::uint64_t kStackPointer = 0xf0658b48, kWords = 0xcd648d48f04d8b48;
  constexpr std::uint64_t kStackPointerArm64 = 0xf85f03b4, kWordsArm64 = 0x8b080fb4f85f03a8;
  int entries = 0;
  for (const std::uint64_t code :
       {kStackPointer, std::uint64_t{0x12345678} << 32 | kStackPointer, kWords, kStackPointerArm64,
        kWordsArm64, kWords ^ std::uint64_t{1} << 63, kWordsArm64 ^ 1, kStackPointer ^ 0x100}) {
#if defined(__aarch64__)
    const bool is_entry = unwind::IsReturnEntry(unwind::Machine::kAArch64, code);
#else
    const bool is_entry = unwind::IsReturnEntry(unwind::Machine::kX86_64, code);
    EXPECT_EQ(unwind::IsReturnEntry(unwind::Machine::kAArch64, code),
              code == kStackPointerArm64 || code == kWordsArm64);
#endif
    EXPECT_EQ(wire_is_return_entry(code) != 0, is_entry) << std::hex << code;
    entries += is_entry;
  }
  EXPECT_GE(entries, 2);
}

#if !defined(__aarch64__)
// The first 16 bytes of `code`, as the BPF programs read them at an address.
__u32 TrampolineCfa(std::string_view code, bool is_return) {
  std::uint64_t words[2] = {0x9090909090909090, 0x9090909090909090};
  std::memcpy(words, code.data(), std::min(code.size(), sizeof words));
  return wire_trampoline_cfa(words[0], is_return ? 0 : words[1], is_return ? 1 : 0);
}

constexpr std::string_view kTrampoline =
    "\xf3\x0f\x1e\xfa\x48\x83\xec\x18\xff\xd1\x48\x83\xc4\x18\xc3";

// Before and after each instruction, the return address is at the canonical frame address - 8.
TEST(Trampoline, HasItsFrameAtEachInstruction) {
  EXPECT_EQ(TrampolineCfa(kTrampoline, false), 8U);              // endbr64
  EXPECT_EQ(TrampolineCfa(kTrampoline.substr(4), false), 8U);    // sub $24,%rsp
  EXPECT_EQ(TrampolineCfa(kTrampoline.substr(8), false), 32U);   // call *%rcx
  EXPECT_EQ(TrampolineCfa(kTrampoline.substr(10), false), 32U);  // add $24,%rsp
  EXPECT_EQ(TrampolineCfa(kTrampoline.substr(10), true), 32U);
  EXPECT_EQ(TrampolineCfa(kTrampoline.substr(14), false), 8U);  // ret
  EXPECT_EQ(TrampolineCfa(kTrampoline.substr(14), true), 8U);
}

TEST(Trampoline, IsNoOtherCode) {
  for (std::size_t i = 0; i < kTrampoline.size(); ++i) {
    if (i == 7 || i == 13) continue;  // the size of the frame; call *reg has eight registers
    std::string other(kTrampoline);
    other[i] = '\x26';
    for (const std::size_t start : {0, 4, 8, 10, 14}) {
      if (start > i) continue;
      const auto code = std::string_view(other).substr(start);
      EXPECT_EQ(TrampolineCfa(code, false), 0U) << i << " " << start;
    }
  }
  using std::literals::operator""sv;
  EXPECT_EQ(TrampolineCfa("\x48\x83\xc4\x0c\xc3"sv, true), 0U) << "no whole words";
  EXPECT_EQ(TrampolineCfa("\x48\x83\xc4\xf8\xc3"sv, true), 0U) << "a negative size";
  EXPECT_EQ(TrampolineCfa("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x10\xc3"sv, false), 0U)
      << "another size is released";
  EXPECT_EQ(TrampolineCfa("\x48\x83\xec\x08\xff\xd1"sv, true), 0U) << "no return address is there";
  EXPECT_EQ(TrampolineCfa("\xff\xd1\xc3"sv, true), 0U);
}
#endif

TEST(UserWalk, UnknownCode) {
  std::vector<std::uint64_t> frames;
  unwind::Registers registers = {
      .pc = 0x2000, .sp = 0x7000, .fp = 0x7000, .link = {}, .interrupted = true};
  EXPECT_EQ(Walk(unwind::FramesBy::kUnknown, registers, {}, frames), WIRE_END_NO_TABLE);
  registers.pc = 0x10;
  EXPECT_EQ(Walk(unwind::FramesBy::kUnknown, registers, {}, frames), WIRE_END_NO_MAPPING);
}

}  // namespace
}  // namespace perftape::record
