// SPDX-License-Identifier: Apache-2.0
// The table of BPF objects. Opening one needs no privileges.
#include "record/bpf/hit_object.h"

#include <gtest/gtest.h>

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
  const HitObject object = Opened({.cause = SampleCause::kLock});
  EXPECT_EQ(object.programs.size(), 2U);
  EXPECT_EQ(HitObjectKindOf(SampleCause::kLock)->object_of, ObjectOf::kOneEvent);
}

TEST(HitObject, AFunctionHasTheProgramOfItsKindOfProbe) {
  const auto object_of = [](ProbeKind kind) {
    return Opened({.cause = SampleCause::kFunction, .probe = kind, .function = "do_exit"});
  };
  const HitObject entry = object_of(ProbeKind::kFentry);
  const HitObject exit = object_of(ProbeKind::kFexit);
  EXPECT_EQ(entry.programs.size(), 1U);
  EXPECT_EQ(exit.programs.size(), 1U);
  EXPECT_EQ(entry.name, "the BPF program for fentry:do_exit");
  EXPECT_EQ(exit.name, "the BPF program for fexit:do_exit");
}

}  // namespace
}  // namespace perftape::record
