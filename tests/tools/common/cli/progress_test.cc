// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace perftape::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kWide = 200;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

ProgressCounts HalfOfAFile() {
  ProgressCounts counts;
  counts.inputs = 1;
  counts.expected_inputs = 1;
  counts.input_bytes = 100 * kMiB;
  counts.work_bytes = 200 * kMiB;
  counts.done_bytes = 100 * kMiB;
  counts.samples = 1'234'567;
  return counts;
}

TEST(ShortBytes, HasTwoDigitsOrMore) {
  EXPECT_EQ(ShortBytes(0), "0 B");
  EXPECT_EQ(ShortBytes(1023), "1023 B");
  EXPECT_EQ(ShortBytes(1536), "1.5 KiB");
  EXPECT_EQ(ShortBytes(12 * kMiB), "12 MiB");
  EXPECT_EQ(ShortBytes(std::numeric_limits<std::uint64_t>::max()), "16777216 TiB");
}

TEST(ShortCount, HasTwoDigitsOrMore) {
  EXPECT_EQ(ShortCount(999), "999");
  EXPECT_EQ(ShortCount(1500), "1.5k");
  EXPECT_EQ(ShortCount(1'234'567), "1.2M");
}

TEST(ShortTime, HasTheLargestUnit) {
  EXPECT_EQ(ShortTime(seconds(59)), "59 s");
  EXPECT_EQ(ShortTime(seconds(65)), "1:05 min");
  EXPECT_EQ(ShortTime(seconds(3725)), "1:02:05 h");
}

TEST(FitParts, LeavesOutTheLastParts) {
  const std::vector<std::string> parts = {"one", "two", "three"};
  EXPECT_EQ(FitParts("tool", parts, kWide), "tool: one, two, three");
  EXPECT_EQ(FitParts("tool", parts, 22), "tool: one, two, three");
  EXPECT_EQ(FitParts("tool", parts, 21), "tool: one, two");
  EXPECT_EQ(FitParts("tool", parts, 5), "tool");
  EXPECT_EQ(FitParts("tool", parts, 1), "");
  EXPECT_EQ(FitParts("tool", parts, 0), "");
}

TEST(ReadingText, OfAFile) {
  EXPECT_EQ(ReadingText("tool", HalfOfAFile(), milliseconds(5000), kWide),
            "tool: 50% of 100 MiB, 1.2M samples, 10 MiB/s, 5 s left");
}

TEST(ReadingText, HasNoTimeLeftWhileInputsFollow) {
  ProgressCounts counts = HalfOfAFile();
  counts.expected_inputs = 3;
  EXPECT_EQ(ReadingText("tool", counts, milliseconds(5000), kWide),
            "tool: input 1 of 3, 50% of 100 MiB, 1.2M samples, 10 MiB/s");
}

TEST(ReadingText, OfAStream) {
  ProgressCounts counts;
  counts.inputs = 1;
  counts.expected_inputs = 1;
  counts.streamed_bytes = 3 * kMiB;
  EXPECT_EQ(ReadingText("tool", counts, milliseconds(3000), kWide),
            "tool: 3.0 MiB read, 1.0 MiB/s");
}

TEST(ReadingText, AfterReading) {
  ProgressCounts counts = HalfOfAFile();
  counts.done_bytes = counts.work_bytes + 1;
  EXPECT_EQ(ReadingText("tool", counts, milliseconds(5000), kWide),
            "tool: 100% of 100 MiB, 1.2M samples, finishing");
}

}  // namespace
}  // namespace perftape::cli
