// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/rewrite/recovered.h"

namespace perftape::rewrite {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::StrEq;

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() : builder_(SmallRecording()), events_(builder_.Open().events()) {}

  static Frame FrameOf(const std::string& record) {
    Frame frame;
    EXPECT_EQ(ReadFrame(AsBytes(record), std::endian::native, frame), Framing::kWhole);
    return frame;
  }
  RecordCheck JudgeBytes(const std::string& record) const {
    return CheckRecord(FrameOf(record).record, events_);
  }
  // Returns the first record of this type, with `bytes` more or fewer before its trailer (cut).
  std::string FirstOf(std::string_view name) const {
    for (const std::string& record : RecordsOf(builder_.records())) {
      if (NameOf(record) == name) return record;
    }
    return {};
  }
  static void SetSize(std::string& record) {
    const auto size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data() + 6, &size, sizeof size);
  }

  PerfDataBuilder builder_;
  perfdata::EventTable events_;
};

TEST_F(JudgeTest, FindsThatAllRecordsOfAGoodFileFit) {
  for (const std::string& record : RecordsOf(builder_.records())) {
    const RecordCheck judgement = JudgeBytes(record);
    EXPECT_EQ(judgement.fit, Fit::kExact) << NameOf(record) << ' ' << judgement.reason;
  }
}

TEST_F(JudgeTest, FindsThatNoRecordFitsThatIsAWordShorter) {
  for (std::string record : RecordsOf(builder_.records())) {
    if (record.size() == 8) continue;
    record.resize(record.size() - 8);
    SetSize(record);
    EXPECT_NE(JudgeBytes(record).fit, Fit::kExact) << NameOf(record);
  }
}

TEST_F(JudgeTest, FindsThatNoSampleFitsThatIsAWordLonger) {
  std::string record = FirstOf("SAMPLE");
  record.resize(record.size() + 8);
  SetSize(record);
  EXPECT_EQ(JudgeBytes(record).fit, Fit::kLoose);
}

TEST_F(JudgeTest, FindsThatAMarkerHasNoBody) {
  std::string record = FirstOf("FINISHED_ROUND") + std::string(8, 'x');
  SetSize(record);
  EXPECT_EQ(JudgeBytes(record).fit, Fit::kBroken);
}

TEST_F(JudgeTest, FindsThatANameNeedsItsNul) {
  std::string record = FirstOf("COMM");
  record.replace(16, 8, "xxxxxxxx");
  const RecordCheck judgement = JudgeBytes(record);
  EXPECT_EQ(judgement.fit, Fit::kBroken);
  EXPECT_THAT(judgement.reason, StrEq("its name has no NUL"));
}

// RHEL 7.0 wrote no protection and flags.
TEST_F(JudgeTest, AcceptsAMmap2WithoutProtection) {
  std::string record = FirstOf("MMAP2");
  record.erase(64, 8);
  record[64 + 12] = 0;
  SetSize(record);
  EXPECT_NE(JudgeBytes(record).fit, Fit::kBroken);
}

TEST_F(JudgeTest, FindsThatAnIdNeedsAnEvent) {
  std::string record = FirstOf("SAMPLE");
  record[8] = 'x';
  EXPECT_THAT(JudgeBytes(record).reason, StrEq("no event has its id"));
}

TEST_F(JudgeTest, JudgesWithoutEventsByTheSmallestSize) {
  const perfdata::EventTable none;
  EXPECT_EQ(CheckRecord(FrameOf(FirstOf("EXIT")).record, none).fit, Fit::kExact);
  std::string record = FirstOf("EXIT");
  record.resize(24);
  SetSize(record);
  EXPECT_EQ(CheckRecord(FrameOf(record).record, none).fit, Fit::kBroken);
}

TEST(ReadFrame, DistinguishesATruncatedRecordFromNone) {
  Frame frame;
  const std::string round("\x44\0\0\0\0\0\x08\0", 8);
  EXPECT_EQ(ReadFrame(AsBytes(round), std::endian::native, frame), Framing::kWhole);
  EXPECT_EQ(ReadFrame(AsBytes(round.substr(0, 7)), std::endian::native, frame), Framing::kCut);
  const std::string small("\x44\0\0\0\0\0\x07\0", 8);
  EXPECT_EQ(ReadFrame(AsBytes(small), std::endian::native, frame), Framing::kNotAFrame);
}

TEST(ReadFrame, DoesNotOverflowAtAHugeTraceSize) {
  std::string record("\x47\0\0\0\0\0\x30\0", 8);
  record += std::string(8, '\xff') + std::string(32, '\0');
  Frame frame;
  EXPECT_EQ(ReadFrame(AsBytes(record), std::endian::native, frame), Framing::kCut);
  EXPECT_EQ(frame.size, UINT64_MAX);
}

}  // namespace
}  // namespace perftape::rewrite
