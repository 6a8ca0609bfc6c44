// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/record/made_recording.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class LossAccountTest : public testing::Test {
 protected:
  LossAccountTest() { account_.Start(input_, kStartNs); }

  // {id of the event: samples} of the LOST_SAMPLES that are new.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> NewLosses() {
    EXPECT_TRUE(account_.AddNewLosses(input_, kStartNs));
    CollectedRecords released;
    EXPECT_TRUE(input_.records().Release(std::numeric_limits<std::uint64_t>::max(), released));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> losses;
    for (const perfdata::RecordView& record : released.records()) {
      if (record.type != perfdata::RecordType::kLostSamples) continue;
      losses.emplace_back(perfdata::DecodeSampleId(record, kTestFormat).id,
                          perfdata::Decode<perfdata::LostSamples>(record, kTestFormat)->count);
    }
    return losses;
  }

  MadeClock clock_;
  MadeInput input_{clock_, {"cpu-clock", "faults"}};
  LossAccount account_;
};

TEST_F(LossAccountTest, ReportsWhatIsNewForEachEventAndCpu) {
  EXPECT_THAT(NewLosses(), IsEmpty());
  input_.counters(0, 1).ring_full = 5;
  input_.counters(1, 0).no_scratch = 2;
  EXPECT_THAT(NewLosses(),
              ElementsAre(Pair(MadeInput::IdOf(0, 1), 5), Pair(MadeInput::IdOf(1, 0), 2)));
  EXPECT_THAT(NewLosses(), IsEmpty());
  input_.counters(0, 1).ring_full = 6;
  EXPECT_THAT(NewLosses(), ElementsAre(Pair(MadeInput::IdOf(0, 1), 1)));
  const LossSummary summary = account_.Summarize(input_);
  EXPECT_EQ(summary.lost_samples, 8);
  EXPECT_THAT(summary.events[0].losses, ElementsAre(LossByCpu{.cpu = 1, .ring_full = 6}));
  EXPECT_THAT(summary.events[1].losses, ElementsAre(LossByCpu{.cpu = 0, .no_scratch = 2}));
}

TEST_F(LossAccountTest, CountsADamagedMessageOnceAndForTheFirstEvent) {
  input_.records().AddMessage({});
  EXPECT_THAT(NewLosses(), ElementsAre(Pair(MadeInput::IdOf(0, 0), 1)));
  EXPECT_THAT(NewLosses(), IsEmpty());
  const LossSummary summary = account_.Summarize(input_);
  EXPECT_EQ(summary.damaged_messages, 1);
  EXPECT_EQ(summary.lost_samples, 1);
}

TEST_F(LossAccountTest, SumsTheTimeThatAnEventWithoutATimerWasThrottled) {
  const std::uint64_t id = MadeInput::IdOf(1, 0);
  input_.Add(kStartNs + 10, perfdata::Throttle{{.time = kStartNs + 10, .id = id, .stream_id = id}});
  input_.Add(kStartNs + 30,
             perfdata::Unthrottle{{.time = kStartNs + 30, .id = id, .stream_id = id}});
  EXPECT_TRUE(clock_.Poll({}, std::chrono::milliseconds(1)));
  EXPECT_TRUE(input_.Drain());
  EXPECT_THAT(NewLosses(), IsEmpty());
  EXPECT_THAT(account_.Summarize(input_).events[1].throttled,
              ElementsAre(ThrottledCpu{.cpu = 0, .times = 1, .throttled_ns = 20}));
}

// An event that is off misses no expiries of its timer.
TEST(LossAccount, JudgesATimerOnlyWhileItIsOn) {
  const auto silent_expiries = [](auto switch_timer) {
    MadeClock clock;
    MadeInput input(clock, {"cpu-clock"}, /*period_ns=*/1'000'000);
    LossAccount account;
    account.Start(input, kStartNs);
    switch_timer(account, input);
    account.CloseTimers(input, kStartNs + 10 * kNsPerSecond);
    EXPECT_TRUE(account.AddNewLosses(input, kStartNs));
    const std::vector<SilentCpu> silences = account.Summarize(input).events[0].silences;
    return silences.empty() ? 0 : silences.front().expiries;
  };
  EXPECT_EQ(silent_expiries([](LossAccount&, MadeInput&) {}), 9999);
  EXPECT_EQ(silent_expiries([](LossAccount& account, MadeInput& input) {
              account.CloseTimer(input, 0, kStartNs);
            }),
            0);
  EXPECT_EQ(silent_expiries([](LossAccount& account, MadeInput& input) {
              account.CloseTimer(input, 0, kStartNs);
              account.OpenTimer(0, kStartNs + 9 * kNsPerSecond);
            }),
            999);
}

TEST_F(LossAccountTest, TellsAbsencesFromTheStart) {
  input_.absences = {{.cpu = 1, .from_ns = kStartNs + 5, .until_ns = kStartNs + 9},
                     {.cpu = 0, .from_ns = kStartNs - 5, .until_ns = {}}};
  EXPECT_THAT(account_.Summarize(input_).absences,
              ElementsAre(AbsentCpu{.cpu = 1, .from_ns = 5, .until_ns = 9},
                          AbsentCpu{.cpu = 0, .from_ns = 0, .until_ns = {}}));
}

}  // namespace
}  // namespace perftape::record
