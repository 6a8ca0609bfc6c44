// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/recorded_hits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  std::optional<bundle::Manifest> Collect() {
    const perfdata::Reader reader = file_.Open();
    auto other = CollectRecordedHits(reader,
                                     {.root = machine_.dir / "root",
                                      .caches = {machine_.dir / "cache"},
                                      .kernel = machine_.kernel()},
                                     files_, jit_);
    if (!other) throw std::runtime_error(other.error().message);
    return *std::move(other);
  }

  MachineDir machine_;
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
  EXPECT_EQ(files_.binaries()[0]->missing, "the recording has no build id of it");
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
  EXPECT_EQ(files_.binaries()[0]->missing, "the kernel was booted since");
}

TEST_F(RecordedHits, FindTheKernelByItsListedFile) {
  HitKernel(kText, "another-kernel-01234", "/boot/vmlinux-6.1");
  EXPECT_TRUE(Collect());
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "another kernel runs now, by its build id");
}
TEST_F(RecordedHits, DoNotHaveAnotherKernel) {
  HitKernel(kText, "another-kernel-01234");
  EXPECT_TRUE(Collect());
  ASSERT_EQ(files_.binaries().size(), 1u);
  EXPECT_EQ(files_.binaries()[0]->missing, "another kernel runs now, by its build id");
}

}  // namespace
}  // namespace perftape::record
