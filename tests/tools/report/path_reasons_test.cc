// SPDX-License-Identifier: Apache-2.0
#include "tools/report/path_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/json/write.h"
#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::report_tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// In a window of 1,000 ns, "main" runs and waits in lock() for "worker", which runs in work() and
// waits in read() for a disk.
class PathReasonsTest : public testing::Test {
 protected:
  PathReasonsTest() {
    recorded_.WaitedForCpu(worker_, 0, 10);
    recorded_.WaitedForCpu(main_, 0, 10);
    recorded_.Ran(main_, 60, recorded_.Calls({"main", "parse", "skip"}));
    recorded_.Ran(main_, 110, recorded_.Calls({"main", "parse", "read"}));
    recorded_.Slept(main_, 200, 1000, recorded_.Calls({"_start", "main", "lock"}));
    recorded_.Ran(worker_, 300, recorded_.Calls({"work"}));
    recorded_.WaitedForDisk(worker_, 900, 990, recorded_.Calls({"work", "read"}));
    recorded_.Woke(worker_, 990, 11, 200, recorded_.Calls({"k:try_to_wake_up"}));
  }

  std::vector<PathReason> Reasons(const timeline::TimelineOptions& options = {}) {
    path_.recorded = recorded_.Make();
    const auto timeline = timeline::Timeline::Build(path_.recorded, options);
    const auto path = WalkPath(timeline, {{.thread = timeline.Find(10, 11), .time = window_}});
    timeline::PathProfile made = ToProfile(timeline, path);
    path_.chosen.count = 1;
    path_.chosen.window_ns = path.window_ns();
    path_.chosen.branches = std::move(made.branches);
    path_.chosen.parts = std::move(made.parts);
    const PathNames names(path_.recorded);
    return ReasonsOf(path_, names);
  }

  std::vector<std::string> Rows(std::size_t most, const timeline::TimelineOptions& options = {},
                                double percent_limit = 0.5) {
    std::vector<std::string> rows;
    const std::vector<PathReason> reasons = Reasons(options);
    for (const auto& row : ReasonTable(reasons, path_, most, percent_limit).rows) {
      rows.push_back(CellText(row[0]) + " " + CellText(row[2]));
    }
    return rows;
  }

  timeline::RecordedThreads recorded_;
  convert::ThreadId main_ = recorded_.Thread("main", 10, 11);
  convert::ThreadId worker_ = recorded_.Thread("worker", 10, 12);
  timeline::Span window_ = {.start = 0, .end = 1000};
  cli::PathFacts path_;
};

TEST_F(PathReasonsTest, SayForWhomAThreadWaitedAndWhatThatOneDid) {
  EXPECT_THAT(Rows(9), ElementsAre("79.00 % waits for worker in main;lock",
                                   "70.00 %   running in work", "9.00 %   disk in work;read",
                                   "19.00 % running in main;parse", "2.00 % runnable"));
}

TEST_F(PathReasonsTest, NameOnlyFunctionsThatHaveAllOfTheTime) {
  recorded_.Ran(worker_, 400, recorded_.Calls({"work"}));
  recorded_.Ran(worker_, 500, recorded_.Calls({"work"}));
  recorded_.Ran(worker_, 600, recorded_.Calls({"start_up"}));
  EXPECT_THAT(Rows(9), testing::IsSupersetOf({"52.50 %   running in work", "17.50 %   running"}));
}

TEST_F(PathReasonsTest, AreTheLargestWithThoseThatTheyAreBelow) {
  EXPECT_THAT(Rows(2),
              ElementsAre("79.00 % waits for worker in main;lock", "70.00 %   running in work"));
}

TEST_F(PathReasonsTest, AreNotBelowTheLimit) {
  EXPECT_THAT(Rows(9, {}, 10),
              ElementsAre("79.00 % waits for worker in main;lock", "70.00 %   running in work",
                          "19.00 % running in main;parse"));
}

TEST_F(PathReasonsTest, NameNoFunctionInWhichAThreadDidNotRunForHalfOfTheTime) {
  recorded_.Ran(main_, 160, recorded_.Calls({"other"}));
  recorded_.Ran(main_, 190, recorded_.Calls({"other"}));
  EXPECT_THAT(Rows(9), testing::Contains("19.00 % running"));
}

TEST_F(PathReasonsTest, SayWhoStartedAThread) {
  const convert::ThreadId child = recorded_.Thread("child", 10, 13);
  recorded_.WaitedForCpu(child, 1300, 1400);
  recorded_.Woke(child, 1500, 11, 1000, recorded_.Calls({"k:try_to_wake_up"}));
  recorded_.Slept(main_, 1000, 1500, recorded_.Calls({"main", "join"}));
  const convert::TaskEvent fork = {.type = convert::TaskEvent::Type::kFork,
                                   .time_ns = 1300,
                                   .pid = 10,
                                   .tid = 13,
                                   .parent_pid = 10,
                                   .parent_tid = 12};
  window_ = {.start = 1000, .end = 1500};
  EXPECT_THAT(Rows(9, {.events = {fork}}),
              ElementsAre("100.00 % waits for child in main;join", "60.00 %   started by worker",
                          "60.00 %     running", "20.00 %   running", "20.00 %   runnable"));
}

// Of two windows of 300 ns that are compared with, one waits as long as the chosen one.
TEST_F(PathReasonsTest, AreThoseOfTheDifferenceToOtherWindows) {
  Reasons();
  cli::WalkedWindows& against = path_.against.emplace(path_.chosen);
  against.count = 2;
  against.window_ns = 600;
  std::erase_if(against.parts, [](const timeline::PathPart& part) {
    return part.reason != timeline::Reason::kDisk;
  });
  const PathNames names(path_.recorded);
  const Table table = ReasonTable(ReasonsOf(path_, names), path_, 3, 0.5);
  std::vector<std::string> rows;
  for (const std::vector<Cell>& row : table.rows) {
    rows.push_back(CellText(row[0]) + ", " + CellText(row[1]) + ", " + CellText(row[2]) + ": " +
                   CellText(row[3]));
  }
  EXPECT_THAT(rows, ElementsAre("745 ns, 790 ns, 45 ns: waits for worker in main;lock",
                                "700 ns, 700 ns, 0 ns:   running in work",
                                "190 ns, 190 ns, 0 ns: running in main;parse"));
  EXPECT_THAT(json::Text(ReasonJson(ReasonsOf(path_, names), path_), json::Layout::kOneLine),
              HasSubstr(R"("functions":"main;lock","ns":790,"against_ns":90)"));
}

TEST_F(PathReasonsTest, AreTheSameInJson) {
  const std::string text = json::Text(ReasonJson(Reasons(), path_), json::Layout::kOneLine);
  EXPECT_THAT(text,
              HasSubstr(R"([{"waits_for":"worker","functions":"main;lock","ns":790,"reasons":[)"
                        R"({"state":"running","functions":"work","ns":700},)"));
  EXPECT_THAT(text, HasSubstr(R"({"state":"running","functions":"main;parse","ns":190})"));
}

}  // namespace
}  // namespace perftape::report_tool
