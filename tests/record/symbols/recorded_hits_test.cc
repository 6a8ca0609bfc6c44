// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/recorded_hits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <ctime>

#include "formats/base/duration.h"
#include "tests/record/symbols/machine_dir.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::record {
namespace {

using perfdata::CpuMode;
using perfdata::PerfDataBuilder;

const BuildId kId = BuildId::From(AsBytes("0123456789abcdefghij"));
constexpr std::uint64_t kText = 0xffffffff81000000;

// A recording with samples in /bin/x of process 7 and in the kernel, which is mapped at `text`.
class RecordedHits : public testing::Test {
 protected:
  RecordedHits() { file_.AddEvent(); }

  void HitBinary() {
    file_.AddBuildId("/bin/x", kId);
    file_.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/bin/x"});
    file_.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .path = "/bin/never-hit"});
    file_.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 5});
  }
  void HitKernel(std::uint64_t text, std::string_view id = kKernelId,
                 std::string_view listed_as = "[kernel.kallsyms]") {
    file_.AddMmap({.pid = 0xffffffff,
                   .start = text,
                   .length = 0x100000,
                   .page_offset = text,
                   .path = "[kernel.kallsyms]_text",
                   .mode = CpuMode::kKernel});
    file_.AddBuildId(listed_as, BuildId::From(AsBytes(id)), CpuMode::kKernel);
    file_.AddSample({.ip = text + 0x10, .pid = 7, .tid = 7, .time = 6, .mode = CpuMode::kKernel});
  }

  // The recording is of this machine, and its first sample of `wall_ns`.
  void SampleFrom(std::int64_t wall_ns) {
    using perfdata::FeatureBit;
    file_.AddFeature(FeatureBit::kHostname,
                     perfdata::TextFeature{DescribeSystem(machine_.kernel()).host});
    file_.AddFeature(FeatureBit::kClockData,
                     perfdata::ClockData{.wall_ns = static_cast<std::uint64_t>(wall_ns) + 100,
                                         .clockid_ns = 105});
    file_.AddFeature(FeatureBit::kSampleTime, perfdata::SampleTime{.first_ns = 5, .last_ns = 5});
  }
  static std::int64_t WallNs() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
  }

  std::optional<bundle::Manifest> Collect() {
    const perfdata::Reader reader = file_.Open();
    auto other = CollectRecordedHits(reader,
                                     {.root = machine_.dir / "root",
                                      .caches = {machine_.dir / "cache"},
                                      .kernel = machine_.kernel(),
                                      .unidentified = unidentified_},
                                     files_, jit_);
    if (!other) throw std::runtime_error(other.error().message);
    return *std::move(other);
  }

  MachineDir machine_;
  Unidentified unidentified_ = Unidentified::kUseIfUnchanged;
  PerfDataBuilder file_;
  HitFiles files_{8};
  JitFiles jit_{machine_.dir / "proc", machine_.dir / "root", 0, std::make_shared<OthersFiles>()};
};

TEST_F(RecordedHits, AreFoundAtTheirPaths) {
  machine_.dir.Write("root/bin/x", SmallElf("0123456789abcdefghij"));
  HitBinary();
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->path, "/bin/x");
  EXPECT_EQ(files_.binaries()[0]->build_id, kId);
  EXPECT_TRUE(files_.binaries()[0]->file);
}

TEST_F(RecordedHits, AreFoundInPerfsCache) {
  machine_.dir.Write("root/bin/x", SmallElf("ABCDEFGHIJ0123456789"));
  machine_.dir.Write("cache/.build-id/30/3132333435363738396162636465666768696a/elf",
                     SmallElf("0123456789abcdefghij"));
  HitBinary();
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_TRUE(files_.binaries()[0]->file);
}

TEST_F(RecordedHits, AreRefusedWhereTheyAreOfAnotherBuild) {
  machine_.dir.Write("root/bin/x", SmallElf("ABCDEFGHIJ0123456789"));
  HitBinary();
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "replaced by another build");
}

TEST_F(RecordedHits, AreMissingWhereTheyAreNotThere) {
  HitBinary();
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "not found");
}

TEST_F(RecordedHits, AreSkippedWithoutARecordedBuildId) {
  machine_.dir.Write("root/bin/x", SmallElf("0123456789abcdefghij"));
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/bin/x"});
  file_.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 5});
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "the recording has no build id for it");
}

// The status of a file, and its device as a MMAP2 has it.
perfdata::MmapOptions MappingOf(const std::string& path, std::string_view recorded_path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return {.pid = 7,
          .tid = 7,
          .start = 0x400000,
          .path = recorded_path,
          .device_major = gnu_dev_major(status.st_dev),
          .device_minor = gnu_dev_minor(status.st_dev),
          .inode = status.st_ino};
}

TEST_F(RecordedHits, AreUsedWithoutABuildIdIfTheyWereNotChangedSince) {
  const std::string path = machine_.dir.Write("root/bin/x", SmallElf(""));
  file_.AddMmap(MappingOf(path, "/bin/x"));
  file_.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 5});
  SampleFrom(WallNs() + kNsPerSecond);
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "");
  EXPECT_TRUE(files_.binaries()[0]->number.is_known());
}

TEST_F(RecordedHits, AreMissingWithoutABuildIdIfTheyWereChangedSince) {
  const std::string path = machine_.dir.Write("root/bin/x", SmallElf(""));
  file_.AddMmap(MappingOf(path, "/bin/x"));
  file_.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 5});
  SampleFrom(WallNs() - kNsPerSecond);
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing,
            "the recording has no build id for it, and it was changed since");
}

TEST_F(RecordedHits, AreMissingWithoutABuildIdIfAnotherFileHasTheirPath) {
  const std::string path = machine_.dir.Write("root/bin/x", SmallElf(""));
  machine_.dir.Write("root/bin/y", SmallElf(""));
  file_.AddMmap(MappingOf(path, "/bin/y"));
  file_.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 5});
  SampleFrom(WallNs() + kNsPerSecond);
  Collect();
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "replaced by another file");
}

// As for programs of Go before 1.24.
TEST_F(RecordedHits, AreUsedByTheirPathIfNothingHasABuildId) {
  unidentified_ = Unidentified::kUseByPath;
  machine_.dir.Write("root/bin/x", SmallElf(""));
  machine_.dir.Write("root/bin/y", SmallElf("0123456789abcdefghij"));
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/bin/x"});
  file_.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .path = "/bin/y"});
  file_.AddSample({.ip = 0x400100, .pid = 7, .tid = 7, .time = 5});
  file_.AddSample({.ip = 0x500100, .pid = 7, .tid = 7, .time = 6});
  Collect();
  ASSERT_EQ(files_.binaries().size(), 2u);
  EXPECT_EQ(files_.binaries()[0]->missing, "");
  EXPECT_TRUE(files_.binaries()[0]->file);
  EXPECT_EQ(files_.binaries()[1]->missing,
            "the file has a build id, but the recording has none for it");
}

TEST_F(RecordedHits, HaveTheRunningKernelWhereItIsTheSameOfTheSameBoot) {
  HitKernel(kText);
  EXPECT_FALSE(Collect().has_value());
  EXPECT_TRUE(files_.has_kernel());
}

TEST_F(RecordedHits, DoNotHaveTheKernelOfAnotherBoot) {
  HitKernel(kText + 0x1000000);
  const auto system = Collect();
  ASSERT_TRUE(system);
  EXPECT_EQ(system->kernel_build_id, BuildId::From(AsBytes(kKernelId)));
  EXPECT_EQ(system->boot_id, "");
  EXPECT_FALSE(files_.has_kernel());
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "the machine was rebooted since");
}

TEST_F(RecordedHits, FindTheKernelByItsListedFile) {
  HitKernel(kText, "another-kernel-01234", "/boot/vmlinux-6.1");
  EXPECT_TRUE(Collect());
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "another kernel is running now, by its build id");
}
TEST_F(RecordedHits, DoNotHaveAnotherKernel) {
  HitKernel(kText, "another-kernel-01234");
  EXPECT_TRUE(Collect());
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "another kernel is running now, by its build id");
}

}  // namespace
}  // namespace perftape::record
