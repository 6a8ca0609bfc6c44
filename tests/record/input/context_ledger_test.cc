// SPDX-License-Identifier: Apache-2.0
#include "record/input/context_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

using bundle::NotedProcess;
using testing::ElementsAre;
using testing::IsEmpty;

FoundContext Context(const std::string& name, std::uint64_t published_ns = 1) {
  return {.published_ns = published_ns, .attributes = {{"service.name", name}}};
}

NotedProcess Noted(std::uint32_t pid, std::uint64_t from_ns, std::optional<std::uint64_t> until_ns,
                   const std::string& name) {
  return {
      .pid = pid, .from_ns = from_ns, .until_ns = until_ns, .attributes = {{"service.name", name}}};
}

class Contexts : public testing::Test {
 protected:
  // Looks at the process, which must be due.
  void LookAt(std::uint32_t pid, std::uint64_t begin_ns, std::uint64_t end_ns,
              std::optional<FoundContext> found) {
    ASSERT_EQ(ledger_.NextLook(begin_ns), pid);
    ledger_.AddLook(pid, begin_ns, end_ns, std::move(found));
  }
  // Samples the process and finds a context.
  void Find(std::uint32_t pid, std::uint64_t begin_ns, std::uint64_t end_ns,
            const std::string& name) {
    ledger_.AddSampled(pid, begin_ns);
    LookAt(pid, begin_ns, end_ns, Context(name));
  }

  ContextLedger ledger_;
};

TEST_F(Contexts, HoldFromTheStartOfTheProgramToTheEndOfTheProcess) {
  ledger_.Start(7, 100);
  Find(7, 150, 160, "cart");
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 100, {}, "cart")));
  ledger_.Exit(7, 300);
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 100, 300, "cart")));
}

TEST_F(Contexts, OfAProcessFromBeforeTheRecordingHoldFromItsBegin) {
  Find(7, 150, 160, "cart");
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 0, {}, "cart")));
}

TEST_F(Contexts, EndWithTheProgram) {
  Find(7, 150, 160, "cart");
  ledger_.Start(7, 200);
  Find(7, 250, 260, "pay");
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 0, 200, "cart"), Noted(7, 200, {}, "pay")));
}

TEST_F(Contexts, OfAReusedPidAreThoseOfTheirProcess) {
  Find(7, 150, 160, "cart");
  ledger_.Exit(7, 170);
  ledger_.Start(7, 200);
  ledger_.AddSampled(7, 210);
  LookAt(7, 220, 230, std::nullopt);
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 0, 170, "cart")));
}

// The look is made by another thread than the one that reads records.
TEST_F(Contexts, AreThoseOfAProgramWhoseStartIsKnownLater) {
  Find(7, 150, 160, "cart");
  ledger_.Start(7, 120);
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 120, {}, "cart")));
}

TEST_F(Contexts, AreOfNeitherProgramIfItChangedDuringTheLook) {
  Find(7, 150, 160, "cart");
  ledger_.Start(7, 155);
  EXPECT_THAT(ledger_.Noted(), IsEmpty());

  ledger_.AddSampled(8, 200);
  ASSERT_EQ(ledger_.NextLook(200), 8U);
  ledger_.Start(8, 205);
  ledger_.AddSampled(8, 206);
  ledger_.AddLook(8, 200, 210, Context("pay"));
  EXPECT_THAT(ledger_.Noted(), IsEmpty());
  LookAt(8, 220, 230, Context("pay"));
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(8, 205, {}, "pay")));
}

TEST_F(Contexts, AreLookedForUntilThereIsOne) {
  ledger_.AddSampled(7, 100);
  std::uint64_t now = 100;
  std::vector<std::uint64_t> pauses;
  while (pauses.size() < 7) {
    pauses.push_back(ledger_.NextLookNs() - now);
    now = ledger_.NextLookNs();
    EXPECT_EQ(ledger_.NextLook(now - 1), std::nullopt);
    LookAt(7, now, now, std::nullopt);
  }
  EXPECT_THAT(pauses, ElementsAre(0, kNsPerSecond / 4, kNsPerSecond, 5 * kNsPerSecond,
                                  30 * kNsPerSecond, 300 * kNsPerSecond, 300 * kNsPerSecond));
  ledger_.AddSampled(7, now);
  EXPECT_EQ(ledger_.NextLookNs(), now + 300 * kNsPerSecond);
  LookAt(7, ledger_.NextLookNs(), ledger_.NextLookNs(), Context("late"));
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 0, {}, "late")));
  ledger_.Start(7, now + 400 * kNsPerSecond);
  ledger_.AddSampled(7, now + 400 * kNsPerSecond);
  EXPECT_EQ(ledger_.NextLook(now + 400 * kNsPerSecond), 7U);
}

TEST_F(Contexts, CanChange) {
  Find(7, 150, 160, "cart");
  const std::uint64_t next = ledger_.NextLookNs();
  LookAt(7, next, next + 5, Context("cart", 1));
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 0, {}, "cart")));
  const std::uint64_t last = ledger_.NextLookNs();
  LookAt(7, last, last + 5, Context("cart2", 2));
  EXPECT_THAT(ledger_.Noted(), ElementsAre(Noted(7, 0, last, "cart"), Noted(7, last, {}, "cart2")));
}

TEST_F(Contexts, OfProcessesWithoutSamplesAreNotLookedFor) {
  ledger_.Start(7, 100);
  EXPECT_EQ(ledger_.NextLookNs(), UINT64_MAX);
  ledger_.AddSampled(7, 110);
  ledger_.Exit(7, 120);
  EXPECT_EQ(ledger_.NextLookNs(), UINT64_MAX);
}

TEST_F(Contexts, ThatEndedFirstAreForgottenFirst) {
  for (std::uint32_t pid = 1; pid <= ContextLedger::kMostContexts + 2; ++pid) {
    Find(pid, pid, pid, "cart");
    ledger_.Exit(pid, pid + 1);
  }
  const std::vector<NotedProcess> noted = ledger_.Noted();
  ASSERT_EQ(noted.size(), ContextLedger::kMostContexts);
  EXPECT_EQ(noted.front().pid, 3U);
}

}  // namespace
}  // namespace perftape::record
