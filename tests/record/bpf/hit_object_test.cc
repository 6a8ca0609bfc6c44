// SPDX-License-Identifier: Apache-2.0
// The table of BPF objects. Opening one needs no privileges, but that of a function needs the types
// of the kernel: kernel.probes tests it.
#include "record/bpf/hit_object.h"

#include <gtest/gtest.h>

#include "record/bpf/program_events.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

TEST(HitObject, ThereIsOneForEachCauseThatIsNoClockCounterOrWait) {
  for (int number = 0; number <= static_cast<int>(SampleCause::kWakeup); ++number) {
    const auto cause = static_cast<SampleCause>(number);
    const bool is_hit = !IsPerCpu(cause) && !IsOffCpu(cause);
    const HitObjectKind* const kind = HitObjectKindOf(cause);
    ASSERT_EQ(kind != nullptr, is_hit) << number;
    EXPECT_TRUE(kind == nullptr || kind->cause == cause) << number;
  }
}

HitObject Opened(const BpfEvent& event) {
  return HitObjectKindOf(event.cause)->open(event, wire_filter{}, "").value();
}

TEST(HitObject, AnEventWithAPerfEventHasOneProgram) {
  for (const SampleCause cause : {SampleCause::kTracepoint, SampleCause::kProbe}) {
    ASSERT_TRUE(HasPerfEvent(cause));
    const HitObject object = Opened({.cause = cause});
    EXPECT_EQ(object.programs.size(), 1U) << object.name;
    EXPECT_EQ(HitObjectKindOf(cause)->object_of, ObjectOf::kAllEvents);
  }
}

TEST(HitObject, AWaitForALockHasABeginAndAnEnd) {
  const HitObject object =
      Opened({.cause = SampleCause::kOwnProgram, .program = &ProgramEvents().front()});
  EXPECT_EQ(object.programs.size(), 2U);
  EXPECT_EQ(HitObjectKindOf(SampleCause::kOwnProgram)->object_of, ObjectOf::kOneEvent);
}

}  // namespace
}  // namespace perftape::record
