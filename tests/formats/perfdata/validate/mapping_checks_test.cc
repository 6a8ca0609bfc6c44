// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/mapping_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MappingChecks, ReportAnEmptyMapping) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .length = 0, .path = "/bin/x", .time = 3});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("mmap-empty"));
}

TEST(MappingChecks, ReportAMappingBeyondTheLastAddress) {
  PerfDataBuilder file = GoodFile();
  const std::uint64_t most = ~std::uint64_t{0};
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .length = most, .path = "x", .time = 3});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("mmap-overflow"));
}

TEST(MappingChecks, AcceptAMappingUpToTheLastAddress) {
  PerfDataBuilder file = GoodFile();
  const std::uint64_t start = 0xffffffffff600000;
  file.AddMmap({.pid = 7, .tid = 7, .start = start, .length = 0 - start, .path = "x", .time = 3});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

TEST(MappingChecks, NoteANameThatTheKernelDoesNotGive) {
  PerfDataBuilder file = GoodFile();
  file.AddComm({.pid = 7, .tid = 7, .comm = "sixteen-and-more", .time = 3});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("comm-too-long"));
}

TEST(MappingChecks, ReportAKernelWithoutAReferenceSymbol) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.start = 0xffffffff81000000,
                .page_offset = 0xffffffff81000000,
                .path = "[kernel.kallsyms]",
                .mode = CpuMode::kKernel});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("kernel-mmap-reference"));
}

TEST(MappingChecks, ReportAKernelWithHiddenAddresses) {
  PerfDataBuilder file = GoodFile();
  file.AddMmap({.path = "[kernel.kallsyms]_text", .mode = CpuMode::kKernel});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("kernel-mmap-reference"));
}

TEST(MappingChecks, ReportTwoBuildIdsOfOnePath) {
  PerfDataBuilder file = GoodFile();
  file.AddFeature(FeatureBit::kBuildId, BuildIds{{{.mode = CpuMode::kUser,
                                                   .build_id = *BuildId::FromHex("ffff"),
                                                   .filename = std::string(kBinary)}}});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("build-id-differs"));
}

}  // namespace
}  // namespace perftape::perfdata
