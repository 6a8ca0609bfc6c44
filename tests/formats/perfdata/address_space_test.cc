// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/address_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns the mapping of an address as "name+offset", or "-".
std::string At(const Region* region, std::uint64_t address) {
  if (region == nullptr) return "-";
  const std::uint64_t offset = address - region->start + region->page_offset;
  return std::string(region->dso->base_name()) + '+' + std::to_string(offset);
}

const Dso kOld{.path = "/old", .build_id = {}, .symbol = {}};
const Dso kNew{.path = "/new", .build_id = {}, .symbol = {}};

// Maps 100 to 200 of /old, from offset 1000 on, then `from` to `to` of /new, from offset 0 on.
// Returns the mapping at `address`.
std::string MapOver(std::uint64_t from, std::uint64_t to, std::uint64_t address) {
  AddressSpace space;
  space.Add({.start = 100, .end = 200, .page_offset = 1000, .dso = &kOld});
  space.Add({.start = from, .end = to, .page_offset = 0, .dso = &kNew});
  return At(space.Find(address), address);
}

TEST(AddressSpace, FindsWhatIsMappedAndNothingBesideIt) {
  AddressSpace space;
  EXPECT_EQ(space.Find(0), nullptr);
  space.Add({.start = 100, .end = 200, .page_offset = 1000, .dso = &kOld});
  EXPECT_EQ(At(space.Find(99), 99), "-");
  EXPECT_EQ(At(space.Find(100), 100), "old+1000");
  EXPECT_EQ(At(space.Find(199), 199), "old+1099");
  EXPECT_EQ(At(space.Find(200), 200), "-");
}

TEST(AddressSpace, CutsTheHeadOffAnOldMapping) {
  EXPECT_EQ(MapOver(50, 150, 149), "new+99");
  EXPECT_EQ(MapOver(50, 150, 150), "old+1050");
}

TEST(AddressSpace, CutsTheTailOffAnOldMapping) {
  EXPECT_EQ(MapOver(150, 250, 149), "old+1049");
  EXPECT_EQ(MapOver(150, 250, 150), "new+0");
}

TEST(AddressSpace, CutsAnOldMappingInTwo) {
  EXPECT_EQ(MapOver(130, 140, 129), "old+1029");
  EXPECT_EQ(MapOver(130, 140, 135), "new+5");
  EXPECT_EQ(MapOver(130, 140, 140), "old+1040");
}

TEST(AddressSpace, ReplacesAnOldMappingThatIsCoveredWhole) {
  EXPECT_EQ(MapOver(100, 200, 100), "new+0");
  EXPECT_EQ(MapOver(50, 250, 199), "new+149");
}

TEST(AddressSpace, LeavesAMappingThatOnlyTouches) {
  EXPECT_EQ(MapOver(200, 300, 199), "old+1099");
  EXPECT_EQ(MapOver(50, 100, 100), "old+1000");
}

TEST(AddressSpace, CutsAllMappingsThatANewOneCovers) {
  AddressSpace space;
  for (std::uint64_t start = 0; start < 1000; start += 100) {
    space.Add({.start = start, .end = start + 50, .page_offset = start, .dso = &kOld});
  }
  space.Add({.start = 120, .end = 810, .page_offset = 0, .dso = &kNew});
  EXPECT_EQ(At(space.Find(119), 119), "old+119");
  EXPECT_EQ(At(space.Find(449), 449), "new+329");
  EXPECT_EQ(At(space.Find(810), 810), "old+810");
  EXPECT_EQ(space.size(), 2U + 1 + 2);
}

TEST(AddressSpace, IgnoresAMappingOfNoLength) {
  AddressSpace space;
  space.Add({.start = 100, .end = 100, .page_offset = 0, .dso = &kOld});
  EXPECT_EQ(space.size(), 0U);
}

TEST(AddressSpace, LeavesACopyAsItWas) {
  AddressSpace space;
  space.Add({.start = 100, .end = 200, .page_offset = 1000, .dso = &kOld});
  AddressSpace copy = space;
  space.Add({.start = 100, .end = 200, .page_offset = 0, .dso = &kNew});
  copy.Remove(150, 200);
  EXPECT_EQ(At(space.Find(110), 110), "new+10");
  EXPECT_EQ(At(space.Find(150), 150), "new+50");
  EXPECT_EQ(At(copy.Find(110), 110), "old+1010");
  EXPECT_EQ(At(copy.Find(150), 150), "-");
}

TEST(AddressSpace, HasANewGenerationAfterEachChange) {
  AddressSpace space, other;
  EXPECT_EQ(space.generation(), other.generation());
  space.Add({.start = 100, .end = 200, .page_offset = 0, .dso = &kOld});
  const std::uint64_t first = space.generation();
  other.Add({.start = 100, .end = 200, .page_offset = 0, .dso = &kNew});
  EXPECT_NE(first, other.generation());
  const AddressSpace copy = space;
  EXPECT_EQ(copy.generation(), first);
  space.Remove(150, 160);
  EXPECT_NE(space.generation(), first);
}

TEST(AddressSpace, HasOneFingerprintForWhateverIsMappedAlike) {
  AddressSpace space, other;
  space.Add({.start = 100, .end = 200, .page_offset = 0, .dso = &kOld});
  space.Add({.start = 300, .end = 400, .page_offset = 0, .dso = &kNew});
  other.Add({.start = 300, .end = 400, .page_offset = 0, .dso = &kNew});
  EXPECT_NE(space.fingerprint(), other.fingerprint());
  other.Add({.start = 50, .end = 250, .page_offset = 7, .dso = &kNew});
  other.Add({.start = 100, .end = 200, .page_offset = 0, .dso = &kOld});
  EXPECT_NE(space.fingerprint(), other.fingerprint());
  other.Remove(0, 100);
  other.Remove(200, 300);
  EXPECT_EQ(space.fingerprint(), other.fingerprint());
  space.Remove(0, 1000);
  EXPECT_EQ(space.fingerprint(), AddressSpace().fingerprint());
}

TEST(Dso, ShowsTheLastPartOfItsPath) {
  const auto shown = [](std::string path) {
    return std::string(Dso{.path = std::move(path), .build_id = {}, .symbol = {}}.base_name());
  };
  EXPECT_EQ(shown("/usr/bin/ls"), "ls");
  EXPECT_EQ(shown("[kernel.kallsyms]"), "[kernel.kallsyms]");
  EXPECT_EQ(shown("/"), "/");
  EXPECT_EQ(shown(""), "[unknown]");
}

// Applies all records of a file, in its order.
class ProcessesTest : public testing::Test {
 protected:
  ProcessesTest() { file_.AddEvent(); }

  // Applies the records added so far and returns the mapping of process `pid` at `address`.
  std::string UserAt(std::uint32_t pid, std::uint64_t address) {
    Apply();
    return At(processes_.Find(pid, CpuMode::kUser, address), address);
  }
  std::string KernelAt(std::uint64_t address) {
    Apply();
    return At(processes_.Find(7, CpuMode::kKernel, address), address);
  }
  std::string CommOf(std::uint32_t tid) {
    Apply();
    return std::string(processes_.CommOf(tid));
  }
  void Apply() {
    RecordCursor cursor(file_.records().subspan(applied_), 0, std::endian::native);
    for (auto next = cursor.Next(); next && *next; next = cursor.Next()) {
      processes_.Apply(**next, file_.format(0));
    }
    applied_ = file_.records().size();
  }

  PerfDataBuilder file_;
  Processes processes_;
  std::size_t applied_ = 0;
};

TEST_F(ProcessesTest, KeepTheMappingsOfEachProcessApart) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/seven"});
  file_.AddMmap({.pid = 8, .tid = 8, .start = 0x1000, .page_offset = 0x100, .path = "/bin/eight"});
  EXPECT_EQ(UserAt(7, 0x1010), "seven+16");
  EXPECT_EQ(UserAt(8, 0x1010), "eight+272");
  EXPECT_EQ(UserAt(9, 0x1010), "-");
}

TEST_F(ProcessesTest, GiveAThreadTheMappingsOfItsProcess) {
  file_.AddMmap({.pid = 7, .tid = 71, .start = 0x1000, .path = "/bin/seven"});
  EXPECT_EQ(UserAt(7, 0x1000), "seven+0");
}

TEST_F(ProcessesTest, ReadTheOlderMmapToo) {
  file_.Add(Mmap{.pid = 7, .tid = 7, .start = 0x1000, .length = 0x1000, .filename = "/bin/seven"},
            {}, MiscOf(CpuMode::kUser));
  EXPECT_EQ(UserAt(7, 0x1fff), "seven+4095");
}

TEST_F(ProcessesTest, IgnoreDataMappings) {
  file_.Add(Mmap{.pid = 7, .tid = 7, .start = 0x1000, .length = 0x1000, .filename = "/data"}, {},
            MiscOf(CpuMode::kUser) | kMiscMmapData);
  EXPECT_EQ(UserAt(7, 0x1000), "-");
}

TEST_F(ProcessesTest, KnowTextThatWasMovedToMemoryWithoutAFile) {
  file_.AddMmap(
      {.pid = 7, .start = 0x4000, .length = 0x3000, .page_offset = 0x1000, .path = "/app"});
  file_.AddMmap({.pid = 7, .start = 0x5000, .length = 0x2000, .path = "//anon"});
  EXPECT_EQ(UserAt(7, 0x5010), "app+8208");
  // A program maps the memory to write to it, and then changes its protection.
  file_.AddMmap({.pid = 7, .start = 0x4000, .length = 0x3000, .path = "/anon_hugepage (deleted)"});
  EXPECT_EQ(UserAt(7, 0x4010), "app+4112");
}

TEST_F(ProcessesTest, KnowMovedTextBelowALaterPartOfItsFile) {
  file_.AddMmap({.pid = 7, .start = 0x4000, .path = "//anon"});
  file_.AddMmap({.pid = 7, .start = 0x5000, .path = "//anon"});
  file_.AddMmap({.pid = 7, .start = 0x6000, .page_offset = 0x3000, .path = "/app"});
  EXPECT_EQ(UserAt(7, 0x4010), "app+4112");
  EXPECT_EQ(UserAt(7, 0x5010), "app+8208");
  file_.AddMmap({.pid = 7, .start = 0x3000, .path = "//anon"});
  EXPECT_EQ(UserAt(7, 0x3010), "app+16");
  file_.AddMmap({.pid = 7, .start = 0x2000, .path = "//anon"});  // below the start of the file
  EXPECT_EQ(UserAt(7, 0x2010), "anon+16");
}

TEST_F(ProcessesTest, LeaveCompiledCodeBesideAFileAnonymous) {
  file_.AddMmap({.pid = 7, .start = 0x4000, .length = 0x2000, .path = "/app"});
  file_.AddMmap({.pid = 7, .start = 0x6000, .path = "//anon"});
  EXPECT_EQ(UserAt(7, 0x6010), "anon+16");
  file_.AddMmap({.pid = 7, .start = 0x3000, .path = "//anon"});
  EXPECT_EQ(UserAt(7, 0x3010), "anon+16");
  file_.AddMmap({.pid = 7, .start = 0x5000, .length = 0x2000, .path = "//anon"});  // and beyond it
  EXPECT_EQ(UserAt(7, 0x5010), "anon+16");
  file_.AddMmap({.pid = 7, .start = 0x9000, .path = "/tmp/jit-7.dump"});
  file_.AddMmap({.pid = 7, .start = 0x9000, .path = "//anon"});
  EXPECT_EQ(UserAt(7, 0x9010), "anon+16");
}

TEST_F(ProcessesTest, KnowMemoryThatCannotBeExecuted) {
  file_.AddMmap({.pid = 7, .start = 0x4000, .length = 0x2000, .path = "/app"});
  file_.Add(Mmap2{.pid = 7,
                  .tid = 7,
                  .start = 0x4000,
                  .length = 0x1000,
                  .build_id = {},
                  .protection = 3,
                  .flags = 2,
                  .filename = "//anon"},
            {}, MiscOf(CpuMode::kUser));
  EXPECT_EQ(UserAt(7, 0x4010), "[anon]+16");  // no memory of a perf map
  EXPECT_EQ(UserAt(7, 0x5010), "app+4112");
}

TEST_F(ProcessesTest, CutAMappingThatWouldWrapAround) {
  file_.AddMmap({.pid = 7, .start = ~std::uint64_t{0} - 100, .length = 1000, .path = "/last"});
  EXPECT_EQ(UserAt(7, ~std::uint64_t{0} - 1), "last+99");
  EXPECT_EQ(UserAt(7, 10), "-");
}

TEST_F(ProcessesTest, GiveAChildWhatItsParentHasMapped) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/parent"});
  file_.AddFork({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7});
  EXPECT_EQ(UserAt(8, 0x1000), "parent+0");
  file_.AddMmap({.pid = 8, .tid = 8, .start = 0x1000, .path = "/bin/child"});
  EXPECT_EQ(UserAt(8, 0x1000), "child+0");
  EXPECT_EQ(UserAt(7, 0x1000), "parent+0");
}

TEST_F(ProcessesTest, LeaveAProcessAsItIsWhenItGetsAThread) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/seven"});
  file_.AddFork({.pid = 7, .ppid = 7, .tid = 71, .ptid = 7});
  EXPECT_EQ(UserAt(7, 0x1000), "seven+0");
}

TEST_F(ProcessesTest, ForgetAFormerProcessWhenItsPidIsForkedAgain) {
  file_.AddMmap({.pid = 8, .tid = 8, .start = 0x1000, .path = "/bin/former"});
  file_.AddFork({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7});  // process 7 is unknown
  EXPECT_EQ(UserAt(8, 0x1000), "-");
}

TEST_F(ProcessesTest, CloneNothingForASynthesizedFork) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/parent"});
  file_.AddFork({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .misc = kMiscForkExec});
  EXPECT_EQ(UserAt(8, 0x1000), "-");
}

TEST_F(ProcessesTest, ForgetAllMappingsAtExec) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/sh"});
  file_.AddComm({.pid = 7, .tid = 7, .comm = "ls", .misc = kMiscCommExec});
  EXPECT_EQ(UserAt(7, 0x1000), "-");
}

TEST_F(ProcessesTest, KeepMappingsWhenOnlyTheNameChanges) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/sh"});
  file_.AddComm({.pid = 7, .tid = 7, .comm = "renamed"});
  EXPECT_EQ(UserAt(7, 0x1000), "sh+0");
}

TEST_F(ProcessesTest, KeepMappingsAfterExitForSamplesThatStillCome) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/sh"});
  file_.AddComm({.pid = 7, .tid = 7, .comm = "sh"});
  file_.AddExit({.pid = 7, .ppid = 1, .tid = 7, .ptid = 1});
  EXPECT_EQ(UserAt(7, 0x1000), "sh+0");
  EXPECT_EQ(CommOf(7), "sh");
}

// Adds processes `first` to `last`, which begin, map something, and end.
void AddShortLived(PerfDataBuilder& file, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t pid = first; pid <= last; ++pid) {
    file.AddFork({.pid = pid, .ppid = 1, .tid = pid, .ptid = 1});
    file.AddMmap({.pid = pid, .tid = pid, .start = 0x1000, .path = "/bin/true"});
    file.AddExit({.pid = pid, .ppid = 1, .tid = pid, .ptid = 1});
  }
}

TEST_F(ProcessesTest, ForgetMappingsOfAProcessWhenManyHaveEndedSince) {
  constexpr std::uint32_t kKept = Processes::kEndedButKept;
  AddShortLived(file_, 100, 100 + kKept);
  EXPECT_EQ(UserAt(100, 0x1000), "-");
  EXPECT_EQ(UserAt(101, 0x1000), "true+0");
  EXPECT_EQ(UserAt(100 + kKept, 0x1000), "true+0");
}

TEST_F(ProcessesTest, ForgetProcessesThatEndedBeforeANumberOfEnds) {
  AddShortLived(file_, 100, 102);
  Apply();
  EXPECT_EQ(processes_.ends(), 3U);
  EXPECT_THAT(processes_.ForgetEnded(2), ElementsAre(100U, 101U));
  EXPECT_EQ(UserAt(101, 0x1000), "-");
  EXPECT_EQ(UserAt(102, 0x1000), "true+0");
  file_.AddFork({.pid = 102, .ppid = 1, .tid = 102, .ptid = 1});
  file_.AddMmap({.pid = 102, .tid = 102, .start = 0x1000, .path = "/bin/other"});
  Apply();
  EXPECT_THAT(processes_.ForgetEnded(3), IsEmpty()) << "another process has the pid";
  EXPECT_EQ(UserAt(102, 0x1000), "other+0");
}

TEST_F(ProcessesTest, ForgetProcessesWhoseExitWasLost) {
  for (const std::uint32_t pid : {7U, 8U}) {
    file_.AddComm({.pid = pid, .tid = pid, .comm = "sh"});
    file_.AddMmap({.pid = pid, .tid = pid, .start = 0x1000, .path = "/bin/sh"});
  }
  Apply();
  EXPECT_THAT(processes_.ForgetIf([](std::uint32_t pid) { return pid == 8; }), ElementsAre(8U));
  EXPECT_EQ(UserAt(7, 0x1000), "sh+0");
  EXPECT_EQ(UserAt(8, 0x1000), "-");
  file_.AddExit({.pid = 8, .ppid = 1, .tid = 8, .ptid = 1});
  Apply();
  EXPECT_EQ(processes_.ends(), 0U) << "it is not forgotten twice";
}

TEST_F(ProcessesTest, ForgetWhatNobodyUses) {
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/mapped"});
  file_.AddComm({.pid = 7, .tid = 7, .comm = "seven"});
  file_.AddMmap({.pid = 8, .tid = 8, .start = 0x1000, .path = "/bin/kept"});
  file_.AddMmap({.pid = 9, .tid = 9, .start = 0x1000, .path = "/bin/gone"});
  for (const std::uint32_t pid : {8U, 9U}) {
    file_.AddComm({.pid = pid, .tid = pid, .comm = "ends"});
    file_.AddExit({.pid = pid, .ppid = 1, .tid = pid, .ptid = 1});
  }
  Apply();
  (void)processes_.ForgetEnded(processes_.ends());
  EXPECT_EQ(processes_.MappedDsos().size(), 1U);
  const std::size_t before = processes_.size();
  processes_.ForgetUnused([](const Dso& dso) { return dso.path == "/bin/kept"; });
  EXPECT_EQ(before - processes_.size(), 1U + 2 + 1) << "a dso, threads, and their name";
  EXPECT_EQ(UserAt(7, 0x1000), "mapped+0");
  EXPECT_EQ(CommOf(7), "seven");
}

TEST_F(ProcessesTest, KeepMappingsWhileAThreadLives) {
  file_.AddComm({.pid = 7, .tid = 7, .comm = "seven"});
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/seven"});
  file_.AddFork({.pid = 7, .ppid = 7, .tid = 71, .ptid = 7});
  file_.AddExit({.pid = 7, .ppid = 7, .tid = 7, .ptid = 7});  // the first thread ends first
  AddShortLived(file_, 100, 1100);
  EXPECT_EQ(UserAt(7, 0x1000), "seven+0");
  file_.AddExit({.pid = 7, .ppid = 7, .tid = 71, .ptid = 7});
  AddShortLived(file_, 100, 1100);
  EXPECT_EQ(UserAt(7, 0x1000), "-");
}

TEST_F(ProcessesTest, KeepMappingsOfAProcessThatHasThePidOfOneThatEnded) {
  AddShortLived(file_, 7, 7);
  file_.AddFork({.pid = 7, .ppid = 1, .tid = 7, .ptid = 1});
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/seven"});
  AddShortLived(file_, 100, 1100);
  EXPECT_EQ(UserAt(7, 0x1000), "seven+0");
}

TEST_F(ProcessesTest, HaveOneKernelForAll) {
  file_.AddMmap({.pid = ~0U,
                 .start = 0xffffffff81000000,
                 .length = 0x1000000,
                 .page_offset = 0xffffffff81000000,
                 .path = "[kernel.kallsyms]_text",
                 .mode = CpuMode::kKernel});
  file_.AddMmap(
      {.pid = ~0U, .start = 0xffffffffc0000000, .path = "[nf_tables]", .mode = CpuMode::kKernel});
  Apply();
  const Region* kernel = processes_.kernel().Find(0xffffffff81000010);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->dso->path, "[kernel.kallsyms]");  // without the reference symbol
  EXPECT_TRUE(kernel->dso->is_kernel);
  EXPECT_EQ(KernelAt(0xffffffffc0000000), "[nf_tables]+0");
  EXPECT_EQ(UserAt(7, 0xffffffff81000010), "-");
}

TEST_F(ProcessesTest, GiveKernelSymbolsAMappingOfTheirOwnUntilTheyGoAway) {
  file_.AddKsymbol({.address = 0x5000, .length = 0x100, .symbol_type = 1, .name = "bpf_prog_1_x"});
  Apply();
  const Region* region = processes_.kernel().Find(0x50ff);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->dso->symbol, "bpf_prog_1_x");
  file_.AddKsymbol({.address = 0x5000,
                    .length = 0x100,
                    .symbol_type = 1,
                    .flags = Ksymbol::kUnregister,
                    .name = "bpf_prog_1_x"});
  EXPECT_EQ(KernelAt(0x5000), "-");
}

TEST_F(ProcessesTest, FindNothingForGuestsAndUnknownModes) {
  file_.AddMmap(
      {.pid = 7, .tid = 7, .start = 0x1000, .path = "/guest", .mode = CpuMode::kGuestUser});
  EXPECT_EQ(UserAt(7, 0x1000), "-");
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/host"});
  Apply();
  EXPECT_EQ(processes_.Find(7, CpuMode::kUnknown, 0x1000), nullptr);
  EXPECT_EQ(processes_.Find(7, CpuMode::kGuestUser, 0x1000), nullptr);
}

TEST_F(ProcessesTest, ShareADsoBetweenEqualMappings) {
  const BuildId one = *BuildId::FromHex("01"), two = *BuildId::FromHex("02");
  file_.AddMmap({.pid = 7, .start = 0x1000, .path = "/lib/libc.so.6", .build_id = one});
  file_.AddMmap({.pid = 8, .start = 0x2000, .path = "/lib/libc.so.6", .build_id = one});
  file_.AddMmap({.pid = 9, .start = 0x3000, .path = "/lib/libc.so.6", .build_id = two});
  Apply();
  const auto dso_at = [&](std::uint32_t pid, std::uint64_t address) {
    return processes_.Find(pid, CpuMode::kUser, address)->dso;
  };
  EXPECT_EQ(dso_at(7, 0x1000), dso_at(8, 0x2000));
  EXPECT_NE(dso_at(7, 0x1000), dso_at(9, 0x3000));  // replaced by an update
  EXPECT_EQ(dso_at(9, 0x3000)->build_id, two);
}

TEST_F(ProcessesTest, NameThreads) {
  file_.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  file_.AddFork({.pid = 7, .ppid = 7, .tid = 71, .ptid = 7});
  EXPECT_EQ(CommOf(7), "worker");
  EXPECT_EQ(CommOf(71), "worker");  // the parent's name, until it gets its own
  file_.AddComm({.pid = 7, .tid = 71, .comm = "io"});
  EXPECT_EQ(CommOf(71), "io");
  EXPECT_EQ(CommOf(7), "worker");
}

TEST_F(ProcessesTest, NameWhatIsNotNamed) {
  EXPECT_EQ(CommOf(0), "swapper");
  EXPECT_EQ(CommOf(99), ":99");
  EXPECT_EQ(CommOf(~0U), ":-1");
}

TEST_F(ProcessesTest, DoNotNameThreadsAfterAnUnnamedParent) {
  EXPECT_EQ(CommOf(99), ":99");
  file_.AddFork({.pid = 99, .ppid = 99, .tid = 100, .ptid = 99});
  EXPECT_EQ(CommOf(100), ":100");
}

TEST_F(ProcessesTest, FindControlGroupsByTheirIds) {
  file_.Add(Cgroup{.id = 42, .path = "/system.slice"});
  Apply();
  EXPECT_EQ(processes_.CgroupOf(42), "/system.slice");
  EXPECT_EQ(processes_.CgroupOf(43), "");
}

TEST_F(ProcessesTest, IgnoreDamagedRecords) {
  for (const RecordType type :
       {RecordType::kMmap, RecordType::kMmap2, RecordType::kComm, RecordType::kFork,
        RecordType::kKsymbol, RecordType::kExit, RecordType::kCgroup, RecordType::kNamespaces,
        static_cast<RecordType>(99)}) {
    file_.AddHeaderOnly({.type = type});
  }
  Apply();
  EXPECT_EQ(processes_.kernel().size(), 0U);
  EXPECT_EQ(CommOf(0), "swapper");
}

}  // namespace
}  // namespace perftape::perfdata
