// SPDX-License-Identifier: Apache-2.0
#include "record/output/sample_aggregator.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <random>

#include "tests/record/records.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint64_t kIntervalNs = 1'000'000'000;

class Aggregation : public testing::Test {
 protected:
  void Add(Bytes record) { aggregator_.Add(RecordsIn(record).front(), record); }
  void AddSample(std::uint64_t time, std::uint64_t ip, std::uint32_t tid = 1,
                 std::uint64_t period = 10) {
    const std::array<std::uint64_t, 2> chain = {perfdata::kContextUser, ip};
    Add(SampleOf({.id = 7,
                  .ip = ip,
                  .pid = 1,
                  .tid = tid,
                  .time = time,
                  .cpu = 0,
                  .period = period,
                  .callchain = WordArray(chain)},
                 perfdata::CpuMode::kUser));
  }
  std::vector<perfdata::Sample> Samples() {
    std::vector<perfdata::Sample> samples;
    for (const perfdata::RecordView& record : RecordsIn(aggregator_.records())) {
      if (record.type != perfdata::RecordType::kSample) continue;
      samples.push_back(perfdata::DecodeSample(record, kTestFormat).value());
    }
    return samples;
  }

  SampleAggregator aggregator_{SampleFormats(kTestFormat), kIntervalNs};
};

TEST_F(Aggregation, JoinsEqualSamples) {
  AddSample(100, 0x1000);
  AddSample(101, 0x2000);
  AddSample(102, 0x1000, 1, 15);
  AddSample(103, 0x1000, 2);
  const std::vector<perfdata::Sample> samples = Samples();
  ASSERT_THAT(samples, SizeIs(3));
  EXPECT_EQ(samples[0].time, 100);
  EXPECT_EQ(samples[0].period, 25);
  EXPECT_EQ(samples[1].ip, 0x2000);
  EXPECT_EQ(samples[2].tid, 2);
  EXPECT_EQ(aggregator_.aggregated(), 1);
}

TEST_F(Aggregation, KeepsWakeupsOfDifferentThreadsApart) {
  perfdata::SampleFormat format = kTestFormat;
  format.sample_type |= perfdata::kAddr;
  SampleAggregator aggregator(SampleFormats(kTestFormat, {7}), kIntervalNs);
  for (const std::uint64_t woken : {9, 10, 9}) {
    std::vector<std::byte> record;
    ASSERT_TRUE(perfdata::EncodeSample(
        {.id = 7, .ip = 1, .pid = 1, .tid = 2, .time = 100, .addr = woken, .period = 10}, format,
        perfdata::MiscOf(perfdata::CpuMode::kKernel), record));
    aggregator.Add(RecordsIn(record).front(), record);
  }
  std::map<std::uint64_t, std::uint64_t> periods;
  for (const perfdata::RecordView& record : RecordsIn(aggregator.records())) {
    const perfdata::Sample sample = perfdata::DecodeSample(record, format).value();
    periods[sample.addr] += sample.period;
  }
  EXPECT_THAT(periods, ElementsAre(std::pair(9, 20), std::pair(10, 10)));
}

TEST_F(Aggregation, EndsAtAProcessEvent) {
  AddSample(100, 0x1000);
  Add(RecordOf(perfdata::Comm{.pid = 2, .tid = 2, .comm = "other"}, 101));
  AddSample(102, 0x1000);
  EXPECT_THAT(Samples(), SizeIs(1));
  Add(RecordOf(perfdata::Comm{.pid = 1, .tid = 1, .comm = "new"}, 103));
  AddSample(104, 0x1000);
  EXPECT_THAT(Samples(), SizeIs(2));
}

TEST_F(Aggregation, EndsWithTheInterval) {
  EXPECT_TRUE(aggregator_.IsOver(5));  // there is nothing to wait for
  AddSample(100, 0x1000);
  EXPECT_FALSE(aggregator_.IsOver(50));
  EXPECT_FALSE(aggregator_.IsOver(99 + kIntervalNs));
  EXPECT_TRUE(aggregator_.IsOver(100 + kIntervalNs));
  aggregator_.Clear();
  AddSample(100 + kIntervalNs, 0x1000);
  EXPECT_THAT(Samples(), SizeIs(1));
  EXPECT_EQ(aggregator_.aggregated(), 0);
}

TEST_F(Aggregation, KeepsTheSharesAndTheOrder) {
  std::mt19937 random(20260103);
  std::map<std::uint64_t, std::uint64_t> before, after;
  for (std::uint64_t time = 1; time <= 2000; ++time) {
    const std::uint64_t ip = 0x1000 + random() % 50;
    const std::uint64_t period = 1 + random() % 1000;
    AddSample(time, ip, 1, period);
    before[ip] += period;
  }
  std::uint64_t last = 0;
  for (const perfdata::Sample& sample : Samples()) {
    after[sample.ip] += sample.period;
    EXPECT_GT(sample.time, last);
    last = sample.time;
  }
  EXPECT_EQ(before, after);
  EXPECT_EQ(Samples().size() + aggregator_.aggregated(), 2000);
}

}  // namespace
}  // namespace perftape::record
