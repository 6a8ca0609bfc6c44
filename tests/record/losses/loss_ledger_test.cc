// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using NewLoss = LossLedger::NewLoss;

constexpr std::uint64_t kMs = 1'000'000;

wire_cpu Counter(std::uint64_t wanted = 1000) {
  wire_cpu counter{};
  counter.overflows = 2 * wanted;
  counter.wanted = wanted;
  counter.was_wanted = 1;
  return counter;
}

wire_cpu Missed(wire_missed cause, std::uint64_t count, std::uint64_t wanted = 1000) {
  wire_cpu counter = Counter(wanted);
  counter.missed[cause] = 2 * count;  // in halves
  return counter;
}

using Counters = std::vector<wire_cpu>;

TEST(LossLedger, ReportsEachLossOnce) {
  LossLedger ledger(kMs);
  Counters counters = {Counter(), Counter()};
  counters[1].ring_full = 5;
  EXPECT_THAT(ledger.Update(counters), ElementsAre(NewLoss{.cpu = 1, .samples = 5}));
  EXPECT_THAT(ledger.Update(counters), IsEmpty());
  counters[0].no_scratch = 1;
  counters[1].ring_full = 7;
  EXPECT_THAT(ledger.Update(counters), ElementsAre(NewLoss{0, 1}, NewLoss{1, 2}));
  EXPECT_THAT(ledger.losses(), ElementsAre(LossByCpu{.cpu = 0, .no_scratch = 1},
                                           LossByCpu{.cpu = 1, .ring_full = 7}));
}

TEST(LossLedger, CountsWhatWasThrottledOrSkippedToTheLastOne) {
  LossLedger ledger(kMs);
  Counters counters = {Missed(WIRE_THROTTLED, 3), Missed(WIRE_SKIPPED, 1)};
  EXPECT_THAT(ledger.Update(counters), ElementsAre(NewLoss{0, 3}, NewLoss{1, 1}));
  EXPECT_THAT(ledger.losses(),
              ElementsAre(LossByCpu{.cpu = 0, .throttled = 3}, LossByCpu{.cpu = 1, .skipped = 1}));
}

TEST(LossLedger, IgnoresTheJitterOfATimer) {
  LossLedger ledger(kMs);
  EXPECT_THAT(ledger.Update(Counters{Missed(WIRE_LATE, 20), Missed(WIRE_UNEXPLAINED, 20),
                                     Missed(WIRE_UNDECIDED, 20), Missed(WIRE_LATE, 7, 10)}),
              IsEmpty());
  EXPECT_THAT(ledger.losses(), IsEmpty());
}

TEST(LossLedger, ReportsLateExpiriesBeyondJitter) {
  LossLedger ledger(kMs);
  EXPECT_THAT(ledger.Update(Counters{Missed(WIRE_LATE, 150)}), ElementsAre(NewLoss{0, 150}));
  EXPECT_THAT(ledger.Update(Counters{Missed(WIRE_LATE, 151, 100'000)}), IsEmpty());
  EXPECT_THAT(ledger.losses(), ElementsAre(LossByCpu{.cpu = 0, .late = 150}))
      << "reported losses do not change";
}

TEST(LossLedger, DividesTheUndecidedAsTheDecidedAre) {
  LossLedger ledger(kMs);
  Counters counters = {Missed(WIRE_UNDECIDED, 100)};
  counters[0].missed[WIRE_SKIPPED] = 2 * 300;
  counters[0].missed[WIRE_NO_OVERFLOW] = 2 * 96;
  EXPECT_THAT(ledger.Update(counters), ElementsAre(NewLoss{0, 300 + 75}));
}

TEST(LossLedger, DoesNotDecideManyByFewOrNone) {
  LossLedger ledger(kMs);
  Counters counters = {Missed(WIRE_UNDECIDED, 100)};
  EXPECT_THAT(ledger.Update(counters), IsEmpty());
  counters[0].missed[WIRE_SKIPPED] = 2;
  EXPECT_THAT(ledger.Update(counters), ElementsAre(NewLoss{0, 1 + 20}));
}

TEST(LossLedger, DoesNotDecideByAnotherCpu) {
  LossLedger ledger(kMs);
  EXPECT_THAT(ledger.Update(Counters{Missed(WIRE_UNDECIDED, 2000), Missed(WIRE_SKIPPED, 3)}),
              ElementsAre(NewLoss{1, 3}));
  EXPECT_THAT(ledger.silences(), ElementsAre(SilentCpu{.cpu = 0, .expiries = 2000}));
}

TEST(LossLedger, ReportsUndecidedExpiriesAsSilentCpus) {
  LossLedger ledger(10 * kMs);
  Counters counters = {Counter(), Missed(WIRE_UNDECIDED, 100), Missed(WIRE_UNDECIDED, 7)};
  EXPECT_THAT(ledger.Update(counters), IsEmpty());
  EXPECT_THAT(ledger.losses(), IsEmpty());
  EXPECT_THAT(ledger.silences(), ElementsAre(SilentCpu{.cpu = 1, .expiries = 100}));
}

TEST(LossLedger, CountsOnlyOverflowsAsLostAndTheOthersAsSilent) {
  LossLedger ledger(kMs);
  Counters counters = {Missed(WIRE_NO_OVERFLOW, 296)};
  counters[0].missed[WIRE_SKIPPED] = 2 * 100;
  counters[0].missed[WIRE_UNDECIDED] = 2 * 200;
  EXPECT_THAT(ledger.Update(counters), ElementsAre(NewLoss{0, 100 + 50}));
  EXPECT_THAT(ledger.silences(), ElementsAre(SilentCpu{.cpu = 0, .expiries = 296 + 200 - 50}));
}

TEST(LossLedger, CountsTheOverflowsAndExpiriesOfOtherTasks) {
  wire_cpu counter = Counter(/*wanted=*/1000);
  counter.overflows = 1200;
  counter.missed_unwanted = 61;  // in halves
  LossLedger ledger(kMs);
  EXPECT_THAT(ledger.Update(Counters{counter}), IsEmpty());
  EXPECT_THAT(ledger.other_tasks(), ElementsAre(OtherTasks{.cpu = 0, .overflows = 231}));
  LossLedger without_timer(0);
  counter.missed_unwanted = 0;
  without_timer.Update(Counters{counter});
  EXPECT_THAT(without_timer.other_tasks(), ElementsAre(OtherTasks{.cpu = 0, .overflows = 200}));
}

TEST(LossLedger, DistinguishesStalledCpus) {
  LossLedger ledger(kMs);
  EXPECT_THAT(ledger.Update(Counters{Missed(WIRE_STALLED, 10), Missed(WIRE_STALLED, 250)}),
              IsEmpty());
  EXPECT_THAT(ledger.losses(), IsEmpty());
  EXPECT_THAT(ledger.stalls(),
              ElementsAre(StalledCpu{.cpu = 1, .stalled_ns = 250 * kMs, .sampled_ns = 1000 * kMs}))
      << "one percent is not worth a word";
}

TEST(LossLedger, CountsAsThrottledWhatFollowsTheLastCall) {
  LossLedger ledger(kMs);
  wire_cpu counter = Counter();
  counter.expiry_ns = 100 * kMs;
  counter.interrupts = WIRE_THROTTLING;
  ledger.CloseTimer(0, counter, /*start_ns=*/kMs, /*end_ns=*/140 * kMs + 5);
  EXPECT_THAT(ledger.Update(Counters{counter}), ElementsAre(NewLoss{0, 39}));
  EXPECT_THAT(ledger.losses(), ElementsAre(LossByCpu{.cpu = 0, .throttled = 39}));
}

TEST(LossLedger, CountsNoLossAtAnEndBetweenExpiries) {
  LossLedger ledger(kMs);
  wire_cpu counter = Counter();
  counter.expiry_ns = 100 * kMs;
  ledger.CloseTimer(0, counter, kMs, 100 * kMs + 1);
  ledger.CloseTimer(0, counter, kMs, 145 * kMs);  // late by 45 ms
  counter.interrupts = WIRE_THROTTLING;
  ledger.CloseTimer(0, counter, kMs, 101 * kMs + 1);  // one expiry may be due now
  EXPECT_THAT(ledger.Update(Counters{counter}), IsEmpty());
}

TEST(LossLedger, ReportsATimerThatNeverFired) {
  LossLedger ledger(kMs);
  ledger.CloseTimer(1, wire_cpu{}, /*start_ns=*/kMs, /*end_ns=*/1001 * kMs);
  EXPECT_THAT(ledger.Update(Counters{wire_cpu{}, wire_cpu{}}), IsEmpty());
  EXPECT_THAT(ledger.silences(), ElementsAre(SilentCpu{.cpu = 1, .expiries = 999}));
}

TEST(LossLedger, ReportsWhatIsBeforeTheFirstCallAndAfterTheLast) {
  wire_cpu counter = Missed(WIRE_NO_OVERFLOW, 100, /*wanted=*/10);
  counter.overflows = 50;
  counter.missed_unwanted = 2 * 40;
  counter.was_wanted = 0;
  counter.expiry_ns = 600 * kMs;
  LossLedger of_every_task(kMs, SampledTasks::kEvery), of_some(kMs, SampledTasks::kSome);
  for (LossLedger* ledger : {&of_every_task, &of_some}) {
    ledger->Update(Counters{counter});
    ledger->CloseTimer(0, counter, /*start_ns=*/kMs, /*end_ns=*/1001 * kMs);
  }
  EXPECT_THAT(of_every_task.silences(),
              ElementsAre(SilentCpu{.cpu = 0, .expiries = 100 + (999 - 50 - 100 - 40)}));
  EXPECT_THAT(of_some.silences(), ElementsAre(SilentCpu{.cpu = 0, .expiries = 100}))
      << "who would have had them is unknown";
}

TEST(LossLedger, JudgesEachRunOfATimerByItself) {
  LossLedger ledger(kMs, SampledTasks::kEvery);
  wire_cpu counter = Counter();
  counter.overflows = 500;
  counter.was_wanted = 1;
  counter.expiry_ns = 500 * kMs;
  ledger.CloseTimer(0, counter, /*start_ns=*/0, /*end_ns=*/501 * kMs);
  // The timer was off for 10 s, and then had no overflow for 300 ms.
  counter.expiry_ns = 0;
  ledger.CloseTimer(0, counter, 10'500 * kMs, 10'801 * kMs);
  ledger.Update(Counters{counter});
  EXPECT_THAT(ledger.silences(), ElementsAre(SilentCpu{.cpu = 0, .expiries = 300}));
}

TEST(LossLedger, IgnoresMissesAfterARejectedSample) {
  LossLedger ledger(kMs);
  wire_cpu counter = Counter();
  counter.expiry_ns = 100 * kMs;
  counter.interrupts = WIRE_THROTTLING;
  counter.was_wanted = 0;
  ledger.CloseTimer(0, counter, kMs, 900 * kMs);
  EXPECT_THAT(ledger.Update(Counters{counter}), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
