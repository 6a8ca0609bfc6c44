// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report.h"

#include <gmock/gmock.h>

#include "convert/model/profile_builder.h"

namespace perftape::convert_tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EventsBeside, AreTheOtherEventsWithSamples) {
  convert::ProfileBuilder builder;
  const convert::ThreadId thread = builder.Add(convert::Thread{.pid = 1, .tid = 1});
  const convert::EventId taken = builder.Add(convert::Event{.name = builder.Add("cycles")});
  const convert::EventId other = builder.Add(convert::Event{.name = builder.Add("faults")});
  builder.Add(convert::Event{.name = builder.Add("dummy")});
  builder.Add(convert::Sample{.thread = thread, .event = taken, .count = 5});
  builder.Add(convert::Sample{.thread = thread, .event = other, .count = 3});
  EXPECT_THAT(EventsBeside(std::move(builder).Finish(), taken), ElementsAre("faults (3 samples)"));
}

}  // namespace
}  // namespace perftape::convert_tool
