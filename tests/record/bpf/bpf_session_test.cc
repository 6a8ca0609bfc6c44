// SPDX-License-Identifier: Apache-2.0
// Tests what needs no privileges; the other tests are in tests/kernel.
#include "record/bpf/bpf_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/bpf/wire_settings.h"
#include "record/events/event_attrs.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/rings/cpu_events.h"
#include "record/rings/sideband.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::HasSubstr;

TEST(BpfSession, RefusesARingThatIsNoPowerOfTwo) {
  EXPECT_THAT(BpfSession::Load({.ring_bytes = 100'000}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("100000 bytes")));
}

TEST(BpfSession, RefusesARingSmallerThanAPage) {
  EXPECT_THAT(BpfSession::Load({.ring_bytes = 1024}), FailsWith(ErrorCode::kInvalidArgument));
}

TEST(BpfSession, RefusesNoRingAtAll) {
  EXPECT_THAT(BpfSession::Load({.ring_bytes = 0}), FailsWith(ErrorCode::kInvalidArgument));
}

TEST(WakeupBytes, AreAPartOfTheRing) {
  constexpr std::size_t kKib = 1024, kMib = 1024 * kKib;
  EXPECT_EQ(WakeupBytes(4 * kKib), 2 * kKib);
  EXPECT_EQ(WakeupBytes(128 * kKib), 64 * kKib);
  EXPECT_EQ(WakeupBytes(kMib), 64 * kKib);
  EXPECT_EQ(WakeupBytes(4 * kMib), 256 * kKib);
  EXPECT_EQ(WakeupBytes(1024 * kMib), kMib);
}

TEST(Sideband, RefusesARingThatIsNoPowerOfTwo) {
  EXPECT_THAT(Sideband::Open({}, {.ring_bytes = 12288}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("12288 bytes")));
}

TEST(OpenOnCpus, NeedsACpuThatIsOnline) {
  const std::vector<int> absent = {65000};
  EXPECT_THAT(OpenOnCpus(SidebandAttr(), absent),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("none of the requested CPUs")));
}

TEST(BpfProgInfoOf, LeavesOutProgramsWithoutAddresses) {
  BpfProgram hidden;
  hidden.id = 1;
  BpfProgram seen;
  seen.id = 2;
  seen.functions = {{.address = 0xffffffffc0000000, .length = 64, .name = "bpf_prog_00_seen"}};
  seen.info.arrays = 8;
  const std::vector<BpfProgram> programs = {hidden, seen};
  const perfdata::BpfProgInfo feature = BpfProgInfoOf(programs);
  ASSERT_EQ(feature.programs.size(), 1U);
  EXPECT_EQ(feature.programs.front().arrays, 8U);
}

}  // namespace
}  // namespace perftape::record
