// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/plain_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kAllPlain =
    kIdentifier | kIp | kTid | kTime | kAddr | kId | kStreamId | kCpu | kPeriod | kCallchain;

std::vector<std::byte> PayloadOf(const SampleFormat& format) {
  const std::vector<std::uint64_t> chain = {11, 12, 13};
  const Sample sample{.id = 1,
                      .ip = 2,
                      .pid = 3,
                      .tid = 4,
                      .time = 5,
                      .addr = 6,
                      .stream_id = 7,
                      .cpu = 8,
                      .period = 9,
                      .callchain = WordArray(chain)};
  std::vector<std::byte> record;
  EXPECT_THAT(EncodeSample(sample, format, 0, record), IsOk());
  return {record.begin() + sizeof(RecordHeader), record.end()};
}

TEST(PlainSampleReader, ReadsWhatDecodeSampleReads) {
  for (const std::uint64_t without :
       {std::uint64_t{0}, std::uint64_t{kIdentifier}, std::uint64_t{kTid | kTime},
        std::uint64_t{kAddr | kPeriod}, std::uint64_t{kCallchain}, kAllPlain}) {
    const SampleFormat format{.sample_type = kAllPlain & ~without};
    const std::vector<std::byte> payload = PayloadOf(format);
    const PlainSampleReader reader(format);
    ASSERT_TRUE(reader.is_plain());
    // Tests each length: complete, with bytes after it, and truncated.
    for (std::size_t size = 0; size <= payload.size(); ++size) {
      const RecordView record{.type = RecordType::kSample, .payload = Bytes(payload).first(size)};
      Sample sample;
      const bool is_read = reader.Read(record, sample);
      const auto want = DecodeSample(record, format);
      ASSERT_EQ(is_read, want.has_value()) << size;
      if (!want) continue;
      EXPECT_EQ(sample.ip, want->ip);
      EXPECT_EQ(sample.pid, want->pid);
      EXPECT_EQ(sample.tid, want->tid);
      EXPECT_EQ(sample.time, want->time);
      EXPECT_EQ(sample.addr, want->addr);
      EXPECT_EQ(sample.cpu, want->cpu);
      EXPECT_EQ(sample.period, want->period);
      EXPECT_THAT(sample.callchain.bytes(), testing::ElementsAreArray(want->callchain.bytes()));
    }
  }
}

TEST(PlainSampleReader, LeavesNothingOfASampleReadBefore) {
  const SampleFormat with_chain{.sample_type = kAllPlain};
  const SampleFormat without{.sample_type = kIp};
  Sample sample;
  for (const SampleFormat& format : {with_chain, without}) {
    const std::vector<std::byte> payload = PayloadOf(format);
    EXPECT_TRUE(PlainSampleReader(format).Read({.payload = payload}, sample));
  }
  EXPECT_EQ(sample.ip, 2U);
  EXPECT_EQ(sample.tid, 0U);
  EXPECT_EQ(sample.time, 0U);
  EXPECT_TRUE(sample.callchain.empty());
}

TEST(PlainSampleReader, RefusesAChainLongerThanTheRecord) {
  const SampleFormat format{.sample_type = kIp | kCallchain};
  std::vector<std::uint64_t> words = {0x10, ~std::uint64_t{0}, 11};
  const RecordView record{.type = RecordType::kSample, .payload = std::as_bytes(std::span(words))};
  Sample sample;
  EXPECT_FALSE(PlainSampleReader(format).Read(record, sample));
  words[1] = 2;
  EXPECT_FALSE(PlainSampleReader(format).Read(record, sample));
  words[1] = 1;
  EXPECT_TRUE(PlainSampleReader(format).Read(record, sample));
}

TEST(PlainSampleReader, LeavesOtherFormatsAlone) {
  for (const std::uint64_t bit : {kRead, kRaw, kBranchStack, kStackUser, kSampleCgroup}) {
    EXPECT_FALSE(PlainSampleReader({.sample_type = kIp | bit}).is_plain());
  }
}

}  // namespace
}  // namespace perftape::perfdata
