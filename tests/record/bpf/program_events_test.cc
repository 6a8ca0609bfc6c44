// SPDX-License-Identifier: Apache-2.0
// What each row must have. A new row needs no test here.
#include "record/bpf/program_events.h"

#include <gtest/gtest.h>

#include <set>

#include "record/bpf/hit_object.h"
#include "record/bpf/wire_settings.h"
#include "record/events/known_events.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

TEST(ProgramEvents, ReadersKnowTheNameInTheFile) {
  for (const ProgramEvent& event : ProgramEvents()) {
    EXPECT_EQ(perfdata::FindEventMeaning(event.in_file->name), event.in_file) << event.name;
  }
}

TEST(ProgramEvents, NoOtherEventHasTheName) {
  std::multiset<std::string_view> names;
  for (const KnownEvent& event : KnownEvents()) names.insert({event.name, event.alias});
  for (const OffCpuName& event : OffCpuNames()) names.insert(event.name);
  for (const EventSet& set : EventSets()) names.insert(set.name);
  for (const ProgramEvent& event : ProgramEvents()) {
    EXPECT_EQ(names.count(event.name), 1U) << event.name;
    EXPECT_EQ(FindEventSet(event.name)->program, &event);
  }
}

TEST(ProgramEvents, EachHasProgramsAndTracepoints) {
  for (const ProgramEvent& event : ProgramEvents()) {
    const Result<HitObject> object = event.open(wire_filter{}, "");
    ASSERT_TRUE(object) << event.name;
    EXPECT_FALSE(object->programs.empty()) << event.name;
    EXPECT_TRUE(event.tracepoints.contains(':')) << event.name;
    EXPECT_FALSE(event.meaning.empty()) << event.name;
  }
}

TEST(ProgramEvents, ProgramsCountTheirMessagesOnlyForOneThatInterruptsThem) {
  for (const bool interrupts : {false, true}) {
    ProgramEvent program = ProgramEvents().front();
    program.interrupts_sending = interrupts;
    const BpfOptions options = {
        .events = {{}, {.cause = SampleCause::kOwnProgram, .program = &program}}};
    EXPECT_EQ(WireFilter(options, 0, 1).count_sending, interrupts);
  }
  EXPECT_FALSE(WireFilter({}, 0, 1).count_sending);
}

}  // namespace
}  // namespace perftape::record
