// SPDX-License-Identifier: Apache-2.0
#include "formats/base/progress.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(ProgressMeter, CountsBlocksAndTheRest) {
  const ProgressCounts before = CurrentProgress();
  ProgressMeter meter(100, 7);
  meter.MoveTo(100 + kMiB - 1, 9);
  EXPECT_EQ(CurrentProgress().done_bytes, before.done_bytes);
  meter.MoveTo(100 + kMiB, 10);
  EXPECT_EQ(CurrentProgress().done_bytes, before.done_bytes + kMiB);
  EXPECT_EQ(CurrentProgress().samples, before.samples + 3);
  meter.Finish(100 + kMiB + 50, 11);
  EXPECT_EQ(CurrentProgress().done_bytes, before.done_bytes + kMiB + 50);
  EXPECT_EQ(CurrentProgress().samples, before.samples + 4);
}

TEST(ProgressMeter, IgnoresSmallerOffsets) {
  const ProgressCounts before = CurrentProgress();
  ProgressMeter meter(3 * kMiB);
  meter.MoveTo(0, 5);
  meter.Finish(kMiB, 5);
  EXPECT_EQ(CurrentProgress().done_bytes, before.done_bytes);
  EXPECT_EQ(CurrentProgress().samples, before.samples);
}

TEST(Progress, AddsInputsAndPasses) {
  const ProgressCounts before = CurrentProgress();
  AddInputToProgress(10);
  AddWorkToProgress(10, 2);
  AddStreamedToProgress(3);
  const ProgressCounts after = CurrentProgress();
  EXPECT_EQ(after.inputs, before.inputs + 1);
  EXPECT_EQ(after.input_bytes, before.input_bytes + 10);
  EXPECT_EQ(after.work_bytes, before.work_bytes + 20);
  EXPECT_EQ(after.streamed_bytes, before.streamed_bytes + 3);
}

}  // namespace
}  // namespace perftape
