// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/wakeups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::Label;
using convert::Profile;
using convert::ProfileMaker;
using convert::Sample;
using convert::ThreadId;
using testing::ElementsAre;
using testing::IsEmpty;

std::string TextOf(const NamedThread& thread) {
  return thread.comm + "/" + (thread.tid ? std::to_string(*thread.tid) : "?");
}

// "waker/11 -> worker/12: 2 samples, 30".
std::vector<std::string> Texts(const Profile& profile, EventId event = {}) {
  std::vector<std::string> texts;
  for (const Wakeups& one : SumWakeups(profile, StackAmounts(profile, event))) {
    texts.push_back(fmt::format("{} -> {}: {} samples, {}", TextOf(one.waker), TextOf(one.woken),
                                one.amount.samples, one.amount.weight));
  }
  return texts;
}

class SumWakeupsTest : public testing::Test {
 protected:
  std::vector<Label> Woken(std::string_view comm, std::int64_t tid) {
    const auto key = made_.builder.Add(convert::kWokenTidLabel);
    return {{.key = key, .number = tid, .unit = key},
            {.key = made_.builder.Add(convert::kWokenLabel), .text = made_.builder.Add(comm)}};
  }

  void Wake(ThreadId waker, const std::vector<Label>& woken, std::int64_t slept_ns,
            std::string_view code = "futex_wake") {
    made_.builder.Add(Sample{.stack = made_.Calls({code}),
                             .thread = waker,
                             .event = event_,
                             .labels = made_.builder.Add(woken),
                             .count = 1,
                             .period = slept_ns});
  }

  ProfileMaker made_;
  EventId event_ = made_.Counts("wakeup", "nanoseconds");
};

TEST_F(SumWakeupsTest, AddUpByWakerAndWokenThread) {
  const ThreadId waker = made_.Runs("waker", 10, 11);
  Wake(waker, Woken("worker-1", 12), 10);
  Wake(waker, Woken("worker-2", 13), 100);
  Wake(waker, Woken("worker-1", 12), 20, "pipe_write");
  Wake(made_.Runs("worker-1", 10, 12), Woken("worker-2", 13), 5);
  EXPECT_THAT(Texts(made_.Make()), ElementsAre("waker/11 -> worker-2/13: 1 samples, 100",
                                               "waker/11 -> worker-1/12: 2 samples, 30",
                                               "worker-1/12 -> worker-2/13: 1 samples, 5"));
}

TEST_F(SumWakeupsTest, KeepThreadsOfOneNameApart) {
  Wake(made_.Runs("waker", 10, 11), Woken("worker", 13), 7);
  Wake(made_.Runs("waker", 10, 11), Woken("worker", 12), 7);
  EXPECT_THAT(Texts(made_.Make()), ElementsAre("waker/11 -> worker/12: 1 samples, 7",
                                               "waker/11 -> worker/13: 1 samples, 7"));
}

TEST_F(SumWakeupsTest, HaveUnknownThreads) {
  Wake({}, Woken("worker", 12), 7);
  std::vector<Label> nameless = Woken("", 13);
  nameless.pop_back();
  Wake(made_.Runs("waker", 10, 11), nameless, 6);
  EXPECT_THAT(Texts(made_.Make()),
              ElementsAre("/? -> worker/12: 1 samples, 7", "waker/11 -> /13: 1 samples, 6"));
}

TEST_F(SumWakeupsTest, LeaveOutOtherSamplesAndEvents) {
  const EventId other = made_.Counts("offcpu-time", "nanoseconds");
  made_.Hit(made_.Calls({"main"}), made_.Runs("app"), other, 1, 5);
  made_.Hit(made_.Calls({"main"}), made_.Runs("app"), event_, 1, 5);
  Wake(made_.Runs("waker", 10, 11), Woken("worker", 12), 7);
  const Profile profile = made_.Make();
  EXPECT_THAT(Texts(profile), ElementsAre("waker/11 -> worker/12: 1 samples, 7"));
  EXPECT_THAT(Texts(profile, other), IsEmpty());
}

}  // namespace
}  // namespace perftape::summarize
