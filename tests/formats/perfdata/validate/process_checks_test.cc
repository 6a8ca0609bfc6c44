// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/process_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kKernelText = 0xffffffff81000000;

TEST(ProcessChecks, ReportKernelSamplesWithoutAKernel) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.ip = kKernelText, .mode = CpuMode::kKernel});
  AddGoodSample(file, {.ip = kKernelText, .mode = CpuMode::kKernel});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("kernel-mmap-missing"));
  EXPECT_THAT(report.InFileOrder().at(0).message, HasSubstr("2 kernel samples"));
}

TEST(ProcessChecks, NoteWhatPerf73NamesByTheRunningKernel) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.start = kKernelText,
                .length = 0x1000000,
                .page_offset = kKernelText,
                .path = "[kernel.kallsyms]_text",
                .build_id = *BuildId::FromHex("0011"),
                .mode = CpuMode::kKernel});
  AddGoodSample(file, {.ip = kKernelText, .mode = CpuMode::kKernel});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("kernel-names"));
  EXPECT_TRUE(report.is_clean());
}

TEST(ProcessChecks, ReportSamplesBeforeTheirComm) {
  PerfDataBuilder file = GoodFile();
  file.AddSample({.ip = 0x400100, .pid = 7, .tid = 8, .time = 10});
  file.AddComm({.pid = 7, .tid = 8, .comm = "late", .time = 20});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("sample-before-comm"));
}

TEST(ProcessChecks, ReportSamplesBeforeTheirMappings) {
  PerfDataBuilder file = GoodFile();
  file.AddComm({.pid = 9, .tid = 9, .comm = "late", .time = 5});
  file.AddSample({.ip = 0x600100, .pid = 9, .tid = 9, .time = 10});
  file.AddMmap({.pid = 9, .tid = 9, .start = 0x600000, .path = "/bin/x", .time = 20});
  EXPECT_THAT(RulesOf(Judge(file)), Contains("sample-before-mmap"));
}

TEST(ProcessChecks, FollowTimeInsteadOfFileOrder) {
  PerfDataBuilder file = GoodFile();
  file.AddSample({.ip = 0x400100, .pid = 7, .tid = 8, .time = 20});
  file.AddComm({.pid = 7, .tid = 8, .comm = "early", .time = 10});
  EXPECT_THAT(RulesOf(Judge(file)), Not(Contains("sample-before-comm")));
}

TEST(ProcessChecks, NoteASampleThatIsMappedNowhere) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.ip = 0x12345678});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("sample-unmapped"));
}

TEST(ProcessChecks, NoteABinaryThatWasHitAndHasNoBuildId) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x600000, .path = "/bin/bare", .time = 3});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x700000, .path = "/bin/not-hit", .time = 3});
  AddGoodSample(file, {.ip = 0x600100});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("build-id-missing"));
  EXPECT_EQ(report.InFileOrder().at(0).message, "/bin/bare has no build id (samples: 1)");
}

TEST(ProcessChecks, UseTheBuildIdOfALaterRecord) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x600000, .path = "/bin/bare", .time = 3});
  AddGoodSample(file, {.ip = 0x600100});
  file.AddBuildId("/bin/bare", *BuildId::FromHex("aabb"));
  EXPECT_THAT(RulesOf(Judge(file)), Not(Contains("build-id-missing")));
}

TEST(ProcessChecks, UseTheBuildIdOfTheTable) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x600000, .path = "/bin/bare", .time = 3});
  AddGoodSample(file, {.ip = 0x600100});
  file.AddFeature(FeatureBit::kBuildId,
                  BuildIds{{{.build_id = *BuildId::FromHex("aabb"), .filename = "/bin/bare"}}});
  EXPECT_THAT(RulesOf(Judge(file)), Not(Contains("build-id-missing")));
}

}  // namespace
}  // namespace perftape::perfdata
