// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/latency.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::ProfileMaker;
using testing::ElementsAre;

class LatencyTest : public testing::Test {
 protected:
  LatencyTest() {
    Add({"main", "serial"}, 1, 1, 100);
    Add({"main", "parallel"}, 4, 3, 240);
    Add({"main", "parallel"}, 2, 1, 60);
  }

  void Add(std::initializer_list<std::string_view> stack, std::int64_t parallelism,
           std::int64_t count, std::int64_t period) {
    const convert::Label label = {.key = made_.builder.Add(convert::kParallelismLabel),
                                  .number = parallelism};
    made_.builder.Add(convert::Sample{.stack = made_.Calls(stack),
                                      .thread = made_.Runs("app"),
                                      .event = event_,
                                      .labels = made_.builder.Add({&label, 1}),
                                      .count = count,
                                      .period = period});
  }

  // "parallel 90 3.50": by --sort, the latency and the parallelism.
  std::vector<std::string> Texts(SortBy sort) {
    const convert::Profile profile = made_.Make();
    const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
    auto functions = SumFunctions(profile, frames, StackAmounts(profile, event_));
    const Latency latency = SumLatency(profile, frames, event_, sort, functions);
    std::vector<std::string> texts = {TextOf("", latency.total)};
    for (std::size_t i = 0; i < functions.size(); ++i) {
      texts.push_back(TextOf(frames.NameOf(functions[i].frame), latency.functions[i].By(sort)));
    }
    return texts;
  }

  static std::string TextOf(std::string_view name, const LatencyAmount& amount) {
    return fmt::format("{} {} {:.2f}", name, amount.latency.weight, amount.parallelism);
  }

  ProfileMaker made_;
  EventId event_ = made_.Counts("cpu-clock", "nanoseconds");
};

// Of the CPU time, "parallel" has three quarters.
TEST_F(LatencyTest, SortsByTheTimeThatPassed) {
  EXPECT_THAT(Texts(SortBy::kSelf),
              ElementsAre(" 190 3.00", "serial 100 1.00", "parallel 90 3.50", "main 0 0.00"));
}

TEST_F(LatencyTest, SortsByTheTimeOfCalleesIfAsked) {
  EXPECT_THAT(Texts(SortBy::kTotal),
              ElementsAre(" 190 3.00", "main 190 3.00", "serial 100 1.00", "parallel 90 3.50"));
}

}  // namespace
}  // namespace perftape::summarize
