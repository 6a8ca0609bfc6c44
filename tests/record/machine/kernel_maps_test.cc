// SPDX-License-Identifier: Apache-2.0
#include "record/machine/kernel_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/record/records.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using perfdata::BpfEvent;
using perfdata::Ksymbol;
using perfdata::Mmap;
using perfdata::RecordType;
using perfdata::RecordView;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kKallsyms =
    "0000000000001000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000110 T do_something\n"
    "ffffffff8220bb08 T _etext\n"
    "ffffffffc0a00000 t _etext\t[odd_module]\n";

struct Mapped {
  std::vector<std::string> warnings;
  std::vector<std::byte> bytes;
  std::vector<RecordView> records;
};

Mapped MapsOf(const TempDir& dir) {
  Mapped mapped;
  const SystemRoots roots = {.proc = dir.path(), .sys = dir.path(), .modules = dir.path()};
  mapped.warnings = AppendKernelMaps(roots, kTestFormat, mapped.bytes).value();
  mapped.records = RecordsIn(mapped.bytes);
  return mapped;
}

TEST(KernelMaps, MapsTheTextUnderTheNameOfItsReferenceSymbol) {
  const TempDir proc;
  proc.Write("kallsyms", kKallsyms);
  const Mapped mapped = MapsOf(proc);
  EXPECT_THAT(mapped.warnings, IsEmpty());
  ASSERT_EQ(mapped.records.size(), 1u);
  EXPECT_EQ(mapped.records[0].type, RecordType::kMmap);
  EXPECT_EQ(mapped.records[0].cpumode(), perfdata::CpuMode::kKernel);
  const Mmap mmap = Decoded<Mmap>(mapped.records).at(0);
  EXPECT_EQ(mmap.pid, 0xffffffffu);
  EXPECT_EQ(mmap.tid, 0u);
  EXPECT_EQ(mmap.start, 0xffffffff81000000u);
  EXPECT_EQ(mmap.length, 0x120bb08u);
  EXPECT_EQ(mmap.page_offset, 0xffffffff81000000u);
  EXPECT_EQ(mmap.filename, "[kernel.kallsyms]_text");
}

TEST(KernelMaps, MeasuresByStextWhereThereIsNoText) {
  const TempDir proc;
  proc.Write("kallsyms", "ffff800008010000 T _stext\nffff800009000000 T _etext\n");
  EXPECT_EQ(Decoded<Mmap>(MapsOf(proc).records).at(0).filename, "[kernel.kallsyms]_stext");
}

TEST(KernelMaps, MapsTheTextThatTheKernelItselfFound) {
  const TempDir proc;
  proc.Write("kallsyms", kKallsyms);
  const SystemRoots roots = {.proc = proc.path(),
                             .sys = proc.path(),
                             .modules = proc.path(),
                             .text = KernelText{.text = 0x1000, .stext = 0x2000, .etext = 0x5000}};
  std::vector<std::byte> bytes;
  EXPECT_THAT(AppendKernelMaps(roots, kTestFormat, bytes).value(), IsEmpty());
  const Mmap mmap = Decoded<Mmap>(RecordsIn(bytes)).at(0);
  EXPECT_EQ(mmap.start, 0x1000u);
  EXPECT_EQ(mmap.length, 0x4000u);
  EXPECT_EQ(mmap.filename, "[kernel.kallsyms]_text");
}

TEST(KernelMaps, WarnsWhereAddressesAreHidden) {
  const TempDir proc;
  proc.Write("kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
  const Mapped mapped = MapsOf(proc);
  EXPECT_THAT(mapped.records, IsEmpty());
  EXPECT_THAT(mapped.warnings, ElementsAre(HasSubstr("kallsyms hides addresses")));
}

TEST(KernelMaps, WarnsOnceWhereAddressesOfModulesAreHiddenToo) {
  const TempDir proc;
  proc.Write("kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
  proc.Write("modules", "ext4 901120 1 - Live 0x0000000000000000\n");
  EXPECT_THAT(MapsOf(proc).warnings, ElementsAre(HasSubstr("kallsyms hides addresses")));
}

TEST(KernelMaps, WarnsWithoutKallsyms) {
  const TempDir proc;
  EXPECT_THAT(MapsOf(proc).warnings, ElementsAre(HasSubstr("kallsyms")));
}

TEST(KernelMaps, IgnoresModuleSymbolsForTheKernel) {
  const TempDir proc;
  proc.Write("kallsyms",
             "ffffffff81000000 T _text\nffffffffc0a00000 t x\t[odd]\n"
             "ffffffffc0a00010 T _etext\n");
  EXPECT_THAT(MapsOf(proc).records, IsEmpty());
}

TEST(KernelMaps, ReadsOnPastAPieceOfTheFile) {
  const TempDir proc;
  std::string kallsyms = "ffffffff81000000 T _text\n";
  for (int i = 0; i < 10000; ++i) kallsyms += "ffffffff81000010 t some_function\n";
  proc.Write("kallsyms", kallsyms + "ffffffff82000000 T _etext");
  EXPECT_THAT(MapsOf(proc).records, IsEmpty());  // the last line is incomplete
  proc.Write("kallsyms", kallsyms + "ffffffff82000000 T _etext\n");
  EXPECT_EQ(Decoded<Mmap>(MapsOf(proc).records).at(0).length, 0x1000000u);
}

TEST(KernelMaps, MapsEachModuleUnderItsPathOrElseItsName) {
  const TempDir proc;
  proc.Write("kallsyms", kKallsyms);
  proc.Write("modules",
             "nls_cp437 20480 1 - Live 0xffffffffc0a1b000\n"
             "own_made 16384 0 nls_cp437, Live 0xffffffffc0b00000 (OE)\n");
  proc.Write("modules.dep", "kernel/fs/nls/nls-cp437.ko.xz: kernel/fs/nls/nls_base.ko\n");
  const Mapped mapped = MapsOf(proc);
  const std::vector<Mmap> mmaps = Decoded<Mmap>(mapped.records);
  ASSERT_EQ(mmaps.size(), 3u);
  EXPECT_EQ(mmaps[1].filename, (proc / "kernel/fs/nls/nls-cp437.ko.xz").string());
  EXPECT_EQ(mmaps[1].start, 0xffffffffc0a1b000u);
  EXPECT_EQ(mmaps[1].length, 20480u);
  EXPECT_EQ(mmaps[1].page_offset, 0u);
  EXPECT_EQ(mmaps[1].pid, 0xffffffffu);
  EXPECT_EQ(mmaps[2].filename, "[own_made]");
}

TEST(KernelMaps, WarnsOfModulesWhoseAddressesAreHidden) {
  const TempDir proc;
  proc.Write("kallsyms", kKallsyms);
  proc.Write("modules", "ext4 901120 1 - Live 0x0000000000000000\n");
  const Mapped mapped = MapsOf(proc);
  EXPECT_EQ(mapped.records.size(), 1u);
  EXPECT_THAT(mapped.warnings, ElementsAre(HasSubstr("1 kernel modules")));
}

TEST(BpfPrograms, ReportsFunctionsThenTheProgram) {
  const std::vector<BpfProgram> programs = {{
      .id = 11,
      .tag = {1, 2, 3, 4, 5, 6, 7, 8},
      .name = "two",
      .functions = {{0xffffffffc0001000, 0x80, "bpf_prog_0102030405060708_two"},
                    {0xffffffffc0002000, 0x40, "bpf_prog_1112131415161718_sub"}},
      .info = {},
  }};
  std::vector<std::byte> bytes;
  ASSERT_TRUE(AppendBpfPrograms(programs, kTestFormat, bytes));
  const std::vector<RecordView> records = RecordsIn(bytes);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[2].type, RecordType::kBpfEvent);

  const std::vector<Ksymbol> symbols = Decoded<Ksymbol>(records);
  EXPECT_EQ(symbols.at(0).name, "bpf_prog_0102030405060708_two");
  EXPECT_EQ(symbols.at(1).address, 0xffffffffc0002000u);
  EXPECT_EQ(symbols.at(1).length, 0x40u);
  EXPECT_EQ(symbols.at(1).symbol_type, Ksymbol::kTypeBpf);
  EXPECT_EQ(symbols.at(1).flags, 0u);
  const BpfEvent event = Decoded<BpfEvent>(records).at(0);
  EXPECT_EQ(event.id, 11u);
  EXPECT_EQ(event.event_type, BpfEvent::kLoad);
  EXPECT_EQ(event.tag, programs[0].tag);
}

TEST(BpfPrograms, LeavesOutThoseWithoutAnAddress) {
  const std::vector<BpfProgram> programs = {
      {.id = 11, .name = "hidden", .functions = {{0, 0x80, "bpf_prog_1_hidden"}}, .info = {}},
      {.id = 12, .name = "interpreted", .functions = {}, .info = {}},
  };
  std::vector<std::byte> bytes;
  ASSERT_TRUE(AppendBpfPrograms(programs, kTestFormat, bytes));
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace perftape::record
