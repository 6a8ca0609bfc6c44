// SPDX-License-Identifier: Apache-2.0
#include "convert/records/sample_shares.h"

#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"

namespace perftape::records {
namespace {

using perfdata::CpuMode;
using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::FieldsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// Returns the shares of a file with one event, with its records in file order.
SampleShares SharesOf(PerfDataBuilder& file) {
  const perfdata::Reader reader = file.Open();
  const perfdata::Event& event = reader.events()[0];
  SampleShares shares(reader);
  perfdata::RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    const perfdata::RecordView& record = cursor.record();
    if (record.type == RecordType::kSample) {
      const auto sample = DecodeSample(record, event.format).value();
      const perfdata::Delivery delivery{&event, sample.period};
      shares.Add(sample, record.cpumode(), {&delivery, 1});
    } else {
      shares.Apply(record, event.format);
    }
  }
  return shares;
}

TEST(SampleShares, DistinguishesTidsThatDifferInOneBit) {
  PerfDataBuilder file;
  file.AddEvent();
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
    file.AddComm({.pid = bit, .tid = bit, .comm = std::to_string(bit)});
  }
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
      file.AddSample({.pid = bit, .tid = bit, .period = bit});
    }
  }
  const SampleShares shares = SharesOf(file);
  EXPECT_EQ(shares.by_comm().size(), 32U);
  for (const auto& [comm, share] : shares.by_comm()) {
    EXPECT_THAT(share, FieldsAre(2, 2 * std::stoull(comm))) << comm;
  }
}

TEST(SampleShares, FollowsANewNameAndANewMapping) {
  PerfDataBuilder file;
  file.AddEvent();
  for (const std::string_view name : {"old", "new"}) {
    file.AddComm({.pid = 7, .tid = 7, .comm = name});
    file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = name});
    file.AddSample({.ip = 0x1010, .pid = 7, .tid = 7});
    file.AddSample({.ip = 0x1020, .pid = 7, .tid = 7});
  }
  const SampleShares shares = SharesOf(file);
  EXPECT_THAT(shares.by_comm(),
              UnorderedElementsAre(Pair("old", FieldsAre(2, 2)), Pair("new", FieldsAre(2, 2))));
  EXPECT_THAT(shares.by_dso(),
              UnorderedElementsAre(Pair("old", FieldsAre(2, 2)), Pair("new", FieldsAre(2, 2))));
}

TEST(SampleShares, KeepsOneAddressOfTwoProcessesAndOfTheKernelApart) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/seven"});
  file.AddMmap({.pid = 7 + 256, .tid = 7 + 256, .start = 0x1000, .path = "/bin/other"});
  file.AddMmap({.start = 0x1000, .path = "[kernel.kallsyms]_text", .mode = CpuMode::kKernel});
  for (int round = 0; round < 2; ++round) {
    file.AddSample({.ip = 0x1010, .pid = 7, .tid = 7});
    file.AddSample({.ip = 0x1010, .pid = 7 + 256, .tid = 7 + 256});
    file.AddSample({.ip = 0x1010, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
    file.AddSample({.ip = 0x1010, .pid = 0, .tid = 0});
  }
  EXPECT_THAT(SharesOf(file).by_dso(),
              UnorderedElementsAre(Pair("seven", FieldsAre(2, 2)), Pair("other", FieldsAre(2, 2)),
                                   Pair("[kernel.kallsyms]", FieldsAre(2, 2)),
                                   Pair("[unknown]", FieldsAre(2, 2))));
}

TEST(SampleShares, NamesKernelAndModulesByTheTableOfBuildIds) {
  using perfdata::FeatureBit;
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.start = 0x1000, .path = "[kernel.kallsyms]_text", .mode = CpuMode::kKernel});
  file.AddMmap({.start = 0x9000, .path = "/lib/modules/a-b.ko", .mode = CpuMode::kKernel});
  file.AddSample({.ip = 0x1010, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
  file.AddSample({.ip = 0x9010, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
  file.AddFeature(
      FeatureBit::kBuildId,
      perfdata::BuildIds{{{CpuMode::kUser, *BuildId::FromHex("aa01"), "/lib/modules/a-b.ko"},
                          {CpuMode::kKernel, *BuildId::FromHex("aa02"), "/boot/vmlinux"}}});
  EXPECT_THAT(SharesOf(file).by_dso(), UnorderedElementsAre(Pair("vmlinux", FieldsAre(1, 1)),
                                                            Pair("[a_b]", FieldsAre(1, 1))));
}

TEST(SampleShares, NamesGeneratedCodeAfterEachProcessThatRunsIt) {
  PerfDataBuilder file;
  file.AddEvent();
  for (const std::uint32_t pid : {7, 8}) {
    file.AddMmap({.pid = pid, .tid = pid, .start = 0x1000, .path = "//anon"});
    file.AddSample({.ip = 0x1010, .pid = pid, .tid = pid, .period = pid});
  }
  EXPECT_THAT(SharesOf(file).by_dso(), UnorderedElementsAre(Pair("perf-7.map", FieldsAre(1, 7)),
                                                            Pair("perf-8.map", FieldsAre(1, 8))));
}

}  // namespace
}  // namespace perftape::records
