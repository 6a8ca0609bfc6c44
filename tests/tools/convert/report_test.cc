// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report.h"

#include <gmock/gmock.h>

#include "convert/model/profile_builder.h"

namespace perftape::convert_tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EventsBeside, AreThoseWithSamplesThatAreNotTaken) {
  ProfileBuilder builder;
  const ThreadId thread = builder.Add(Thread{.pid = 1, .tid = 1});
  const EventId taken = builder.Add(Event{.name = builder.Add("cycles")});
  const EventId other = builder.Add(Event{.name = builder.Add("faults")});
  builder.Add(Event{.name = builder.Add("dummy")});
  builder.Add(Sample{.thread = thread, .event = taken, .count = 5});
  builder.Add(Sample{.thread = thread, .event = other, .count = 3});
  EXPECT_THAT(EventsBeside(std::move(builder).Finish(), taken), ElementsAre("faults (3 samples)"));
}

}  // namespace
}  // namespace perftape::convert_tool
