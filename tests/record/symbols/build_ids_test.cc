// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/build_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "record/processes/proc_snapshot.h"
#include "tests/record/records.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using perfdata::CpuMode;
using perfdata::HeaderBuildId;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using perfdata::Mmap;
using perfdata::Mmap2;
using testing::IsEmpty;

const std::string kId = "0123456789abcdefghij";
const std::string kOtherId = "ABCDEFGHIJ0123456789";

BuildId Id(std::string_view bytes) {
  return BuildId::From(AsBytes(bytes));
}

// A machine in a directory: its root, /proc and /sys, and a recording of it.
class BuildIds : public testing::Test {
 protected:
  // Writes an ELF file at `path` of the machine, or below the root of process `pid`.
  void WriteElf(const std::string& path, std::string_view id) {
    dir_.Write("root" + path, SmallElf(id));
  }
  void WriteElfOf(std::uint32_t pid, const std::string& path, std::string_view id) {
    dir_.Write("proc/" + std::to_string(pid) + "/root" + path, SmallElf(id));
  }

  // Adds a mapping of [start, start + 0x1000) of the file at `real_path` below the directory.
  void Map(std::uint32_t pid, std::uint64_t start, std::string_view name,
           const std::string& real_path) {
    struct stat status = {};
    ASSERT_EQ(::stat((dir_ / real_path).c_str(), &status), 0) << real_path;
    Map(pid, start, name, status.st_dev, status.st_ino);
  }
  void Map(std::uint32_t pid, std::uint64_t start, std::string_view name, dev_t device,
           std::uint64_t inode) {
    Observe(RecordOf(Mmap2{.pid = pid,
                           .tid = pid,
                           .start = start,
                           .length = 0x1000,
                           .device_major = gnu_dev_major(device),
                           .device_minor = gnu_dev_minor(device),
                           .inode = inode,
                           .build_id = {},
                           .filename = name},
                     0, MiscOf(CpuMode::kUser)));
  }
  void MapKernel(std::uint64_t start, std::string_view name) {
    Observe(RecordOf(Mmap{.pid = 0xffffffff, .start = start, .length = 0x1000, .filename = name}, 0,
                     MiscOf(CpuMode::kKernel)));
  }

  // Adds a sample of user mode with these addresses, leaf first.
  void Hit(std::uint32_t pid, std::vector<std::uint64_t> chain) {
    const std::uint64_t ip = chain.at(0);
    chain.insert(chain.begin(), kContextUser);
    Observe(SampleOf({.ip = ip, .pid = pid, .tid = pid, .callchain = WordArray(chain)},
                     CpuMode::kUser));
  }
  void HitKernel(std::vector<std::uint64_t> chain) {
    Observe(SampleOf({.ip = chain.at(1), .callchain = WordArray(chain)}, CpuMode::kKernel));
  }

  void Observe(Bytes record) { ASSERT_TRUE(collector_.Observe(record, out_)); }

  std::vector<HeaderBuildId> Announced() const { return Decoded<HeaderBuildId>(RecordsIn(out_)); }

  // Returns why the hit files lack `path`; empty if they have it.
  std::string MissingReason(std::string_view path) {
    collector_.KeepMissing();
    for (const std::shared_ptr<HitBinary>& binary : files_.binaries()) {
      if (binary->path == path) return binary->missing;
    }
    return "never hit";
  }

  TempDir dir_;
  HitFiles files_{8};
  BuildIdCollector collector_{kTestFormat,
                              {.root = dir_ / "root", .proc = dir_ / "proc", .sys = dir_ / "sys"},
                              {.files = &files_}};
  std::vector<std::byte> out_;
};

TEST_F(BuildIds, AreAnnouncedAtTheFirstHit) {
  WriteElf("/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  EXPECT_THAT(Announced(), IsEmpty());
  Hit(7, {0x400100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].filename, "/bin/x");
  EXPECT_EQ(Announced()[0].build_id, Id(kId));
  EXPECT_EQ(Announced()[0].pid, -1);
  const perfdata::RecordView record = RecordsIn(out_).at(0);
  EXPECT_EQ(record.cpumode(), CpuMode::kUser);
  EXPECT_NE(record.misc & perfdata::kMiscBuildIdSize, 0);
  EXPECT_EQ(record.size() % 8, 0u);
}

TEST_F(BuildIds, AreNotReadIfNobodyWantsThem) {
  collector_ = BuildIdCollector(kTestFormat, {.root = dir_ / "root", .reads_ids = false});
  WriteElf("/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Hit(7, {0x400100});
  EXPECT_THAT(Announced(), IsEmpty());
  EXPECT_THAT(collector_.all().entries, IsEmpty());
}

TEST_F(BuildIds, AreAnnouncedOnce) {
  WriteElf("/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Map(8, 0x500000, "/bin/x", "root/bin/x");
  Hit(7, {0x400100});
  Hit(7, {0x400200});
  Hit(8, {0x500100});
  EXPECT_EQ(Announced().size(), 1u);
  EXPECT_EQ(collector_.all().entries.size(), 1u);
}

TEST_F(BuildIds, OfBinariesThatNobodyMapsAreForgottenOnceNoFileNeedsThem) {
  WriteElf("/bin/x", kId);
  WriteElf("/bin/y", kOtherId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Hit(7, {0x400100});
  Map(7, 0x400000, "/bin/y", "root/bin/y");
  Hit(7, {0x400100});
  const std::vector<const perfdata::Dso*> hit = collector_.hit();
  ASSERT_EQ(hit.size(), 2U);
  collector_.ForgetUnused({});
  EXPECT_EQ(collector_.BuildIdsOf(hit).entries.size(), 2U) << "the file needs both";

  ASSERT_TRUE(collector_.StartFile({.files = &files_}, {}));
  collector_.ForgetUnused(hit);
  EXPECT_EQ(collector_.BuildIdsOf(hit).entries.size(), 2U) << "the caller keeps them";
  collector_.ForgetUnused({});
  EXPECT_EQ(collector_.BuildIdsOf(hit).entries.size(), 1U);
  Hit(7, {0x400100});
  ASSERT_EQ(collector_.hit().size(), 1U);
  EXPECT_EQ(collector_.hit().front()->path, "/bin/y");
}

TEST_F(BuildIds, AreReadForEveryFrame) {
  WriteElf("/bin/x", kId);
  WriteElf("/lib/y", kOtherId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Map(7, 0x700000, "/lib/y", "root/lib/y");
  Hit(7, {0x700100, 0x400100});
  ASSERT_EQ(Announced().size(), 2u);
  EXPECT_EQ(Announced()[0].filename, "/lib/y");
  EXPECT_EQ(Announced()[1].filename, "/bin/x");
}

TEST_F(BuildIds, AreReadForAMappingThatReplacedAnother) {
  WriteElf("/bin/x", kId);
  WriteElf("/lib/y", kOtherId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Hit(7, {0x400100});
  Map(7, 0x400000, "/lib/y", "root/lib/y");
  Hit(7, {0x400100});
  EXPECT_EQ(Announced().size(), 2u);
}

TEST_F(BuildIds, AreThoseThatTheProcessSees) {
  WriteElf("/bin/x", kOtherId);
  WriteElfOf(7, "/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "proc/7/root/bin/x");
  Hit(7, {0x400100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].build_id, Id(kId));
}

TEST_F(BuildIds, AreFoundThroughTheMappingOfADeletedFile) {
  dir_.Write("proc/7/map_files/400000-401000", SmallElf(kId));
  Map(7, 0x400000, "/bin/x (deleted)", "proc/7/map_files/400000-401000");
  Hit(7, {0x400100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].filename, "/bin/x (deleted)");
}

TEST_F(BuildIds, AreNotReadFromAReplacedFile) {
  WriteElf("/bin/x", kId);
  struct stat status = {};
  ASSERT_EQ(::stat((dir_ / "root/bin/x").c_str(), &status), 0);
  Map(7, 0x400000, "/bin/x", status.st_dev, status.st_ino + 1);
  Map(7, 0x500000, "/bin/x", status.st_dev + 1, status.st_ino);
  Hit(7, {0x400100, 0x500100});
  EXPECT_THAT(Announced(), IsEmpty());
}

TEST_F(BuildIds, ReportAReplacedFileInItsProcessOnly) {
  WriteElfOf(7, "/bin/x", kId);
  Map(7, 0x400000, "/bin/x", 0, 4711);
  Hit(7, {0x400100});
  EXPECT_EQ(MissingReason("/bin/x"), "replaced by another file before it could be opened");
}

// A process of a container: its /bin/x is not that of the machine, and no file was replaced.
TEST_F(BuildIds, ReportAnEndedProcess) {
  WriteElf("/bin/x", kId);
  Map(7, 0x400000, "/bin/x", 0, 4711);
  Map(7, 0x500000, "/bin/y", 0, 4712);
  Hit(7, {0x400100, 0x500100});
  EXPECT_EQ(MissingReason("/bin/y"), "its process ended before it could be opened");
  EXPECT_THAT(MissingReason("/bin/x"), testing::StartsWith("its process ended before it could be"));
  EXPECT_THAT(MissingReason("/bin/x"), testing::HasSubstr("another file"));
}

TEST_F(BuildIds, ReportAnUnreadableFileOfALiveProcess) {
  std::filesystem::create_directories(dir_ / "proc/7");
  Map(7, 0x400000, "/bin/x", 0, 4711);
  Hit(7, {0x400100});
  EXPECT_THAT(MissingReason("/bin/x"), testing::StartsWith("could not be opened"));
}

TEST_F(BuildIds, AreLookedForAgainInAnotherProcess) {
  WriteElfOf(8, "/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "proc/8/root/bin/x");
  Map(8, 0x400000, "/bin/x", "proc/8/root/bin/x");
  Hit(7, {0x400100});
  Hit(8, {0x400100});
  EXPECT_EQ(Announced().size(), 1u);
}

TEST_F(BuildIds, AreAbsentWhereABinaryHasNone) {
  WriteElf("/bin/x", "");
  dir_.Write("root/bin/script", "#!/bin/sh\n");
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Map(7, 0x500000, "/bin/script", "root/bin/script");
  Hit(7, {0x400100, 0x500100});
  EXPECT_THAT(Announced(), IsEmpty());
}

TEST_F(BuildIds, AreNotSoughtForMemoryWithoutAFile) {
  Map(7, 0x400000, "//anon", 0, 0);
  Map(7, 0x500000, "[heap]", 0, 0);
  Map(7, 0x600000, "/dev/zero (deleted)", 0, 0);
  Hit(7, {0x400100, 0x500100, 0x600100, 0x700100});
  EXPECT_THAT(Announced(), IsEmpty());
}

TEST_F(BuildIds, AreCopiedFromAMappingThatHasOne) {
  Mmap2 mmap{.pid = 7, .tid = 7, .start = 0x400000, .length = 0x1000, .build_id = Id(kId)};
  mmap.filename = "/bin/gone";
  Observe(RecordOf(
      mmap, 0, static_cast<std::uint16_t>(MiscOf(CpuMode::kUser) | perfdata::kMiscMmapBuildId)));
  Hit(7, {0x400100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].build_id, Id(kId));
}

TEST_F(BuildIds, OfTheKernelComeFromItsNotes) {
  dir_.Write("sys/kernel/notes", ElfNote(std::string("GNU\0", 4), NT_GNU_BUILD_ID, kId));
  MapKernel(0xffffffff81000000, "[kernel.kallsyms]_text");
  HitKernel({kContextKernel, 0xffffffff81000100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].filename, "[kernel.kallsyms]");
  EXPECT_EQ(RecordsIn(out_).at(0).cpumode(), CpuMode::kKernel);
  EXPECT_EQ(collector_.all().entries.at(0).mode, CpuMode::kKernel);
}

TEST_F(BuildIds, OfAModuleComeFromItsNotes) {
  dir_.Write("sys/module/nls_cp437/notes/.note.gnu.build-id",
             ElfNote(std::string("GNU\0", 4), NT_GNU_BUILD_ID, kId));
  MapKernel(0xffffffffc0a00000, "/lib/modules/6.1/kernel/fs/nls/nls-cp437.ko.xz");
  HitKernel({kContextKernel, 0xffffffffc0a00100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].filename, "/lib/modules/6.1/kernel/fs/nls/nls-cp437.ko.xz");
}

TEST_F(BuildIds, AreNotSoughtForBpfPrograms) {
  Observe(RecordOf(perfdata::Ksymbol{.address = 0xffffffffc0000040,
                                     .length = 0x80,
                                     .symbol_type = perfdata::Ksymbol::kTypeBpf,
                                     .name = "bpf_prog_1_x"}));
  HitKernel({kContextKernel, 0xffffffffc0000050});
  EXPECT_THAT(Announced(), IsEmpty());
}

TEST_F(BuildIds, AreReadForTheUserFramesOfAKernelSample) {
  WriteElf("/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  const std::vector<std::uint64_t> chain = {kContextKernel, 0xffffffff81000100, kContextUser,
                                            0x400100};
  Observe(SampleOf({.ip = chain[1], .pid = 7, .tid = 7, .callchain = WordArray(chain)},
                   CpuMode::kKernel));
  EXPECT_EQ(Announced().size(), 1u);
}

TEST_F(BuildIds, RefuseWhatIsNoWholeRecord) {
  const std::vector<std::byte> record = RecordOf(perfdata::LostSamples{.count = 1});
  for (std::size_t size = 1; size < record.size(); ++size) {
    EXPECT_FALSE(collector_.Observe(Bytes(record).first(size), out_)) << size;
  }
}

void ThisFunctionIsHit() {}

TEST(BuildIdsOfThisMachine, AreThoseOfThisExecutableAndItsVdso) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  std::vector<std::byte> snapshot;
  ASSERT_TRUE(SnapshotProcesses("/proc", std::vector{pid}, kTestFormat, snapshot));
  BuildIdCollector collector(kTestFormat);
  std::vector<std::byte> out;
  ASSERT_TRUE(collector.Observe(snapshot, out));

  std::uint64_t vdso = 0;
  for (const Mmap2& mmap : Decoded<Mmap2>(RecordsIn(snapshot))) {
    if (mmap.filename == "[vdso]") vdso = mmap.start;
  }
  const auto function = reinterpret_cast<std::uint64_t>(&ThisFunctionIsHit);
  const std::vector<std::uint64_t> chain = {kContextUser, function, vdso + 0x10};
  const std::vector<std::byte> sample = SampleOf(
      {.ip = function, .pid = pid, .tid = pid, .callchain = WordArray(chain)}, CpuMode::kUser);
  ASSERT_TRUE(collector.Observe(sample, out));

  if (vdso != 0) {
    EXPECT_THAT(collector.all().entries,
                testing::Contains(testing::Field(&perfdata::BuildIdEntry::filename, "[vdso]")));
  }
}

TEST_F(BuildIds, AreAnnouncedAgainInTheNextFile) {
  WriteElf("/bin/x", kId);
  WriteElf("/bin/y", kOtherId);
  Map(7, 0x400000, "/bin/x", "root/bin/x");
  Map(7, 0x500000, "/bin/y", "root/bin/y");
  Hit(7, {0x400100, 0x500100});
  ASSERT_EQ(collector_.all().entries.size(), 2u);

  HitFiles next = files_.NextFile();
  ASSERT_TRUE(collector_.StartFile({.files = &next}, {}));
  std::filesystem::remove(dir_ / "root/bin/x");  // it is known and open
  out_.clear();
  Hit(7, {0x400100});
  ASSERT_EQ(Announced().size(), 1u);
  EXPECT_EQ(Announced()[0].filename, "/bin/x");
  EXPECT_EQ(collector_.all().entries.size(), 1u);
  ASSERT_EQ(next.binaries().size(), 1u);
  EXPECT_EQ(next.binaries()[0], files_.binaries()[0]);
}

TEST_F(BuildIds, AreMissingOnlyInFilesThatHitTheBinary) {
  Map(7, 0x400000, "/bin/gone", 1, 2);
  Hit(7, {0x400100});
  HitFiles next = files_.NextFile();
  ASSERT_TRUE(collector_.StartFile({.files = &next}, {}));
  collector_.KeepMissing();
  EXPECT_THAT(next.binaries(), IsEmpty());
}

TEST_F(BuildIds, AreOpenedAgainIfNothingKeptTheFile) {
  WriteElfOf(7, "/bin/x", kId);
  Map(7, 0x400000, "/bin/x", "proc/7/root/bin/x");
  const auto pool = std::make_shared<HitPool>();
  auto round = std::make_unique<HitFiles>(8, pool);
  const auto hit_in_next_round = [&] {
    round = std::make_unique<HitFiles>(8, pool);
    ASSERT_TRUE(collector_.StartFile({.files = round.get()}, {}));
    Hit(7, {0x400100});
    ASSERT_EQ(round->binaries().size(), 1u);
    EXPECT_EQ(round->binaries()[0]->build_id, Id(kId));
    ASSERT_EQ(collector_.BuildIdsOf(collector_.hit()).entries.size(), 1u);
  };
  hit_in_next_round();
  hit_in_next_round();
  EXPECT_EQ(round->binaries()[0]->missing, "");
  std::filesystem::remove_all(dir_ / "proc/7");
  hit_in_next_round();
  EXPECT_EQ(round->binaries()[0]->missing, "its process ended before it could be opened again");
}

}  // namespace
}  // namespace perftape::record
