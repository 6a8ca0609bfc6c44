// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/index_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace perftape::serve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kIndexSecond = 1'000'000'000;

IndexFacts Facts() {
  return {.events = {"cpu-clock", "skb:kfree_skb"},
          .recorded_since_ns = 100 * kIndexSecond,
          .now_ns = 4000 * kIndexSecond,
          .history = {.windows = 2, .bytes = 2048, .start_ns = 3910 * kIndexSecond},
          .history_span = std::chrono::hours(1)};
}

TEST(IndexPage, ShowsWhatIsRecordedAndKept) {
  EXPECT_THAT(IndexPage(Facts()),
              AllOf(HasSubstr(">ready<"), HasSubstr("cpu-clock, skb:kfree_skb, for 1 h 5 min<"),
                    HasSubstr("the last 1 min 30 s, at most 1 h (2.0 KiB in 2 windows)")));
}

TEST(IndexPage, HasLinksOfEachEvent) {
  EXPECT_THAT(IndexPage(Facts()),
              AllOf(HasSubstr("\"/debug/pprof/profile?since=1m\""),
                    HasSubstr("\"/flamegraph?event=skb:kfree_skb&amp;since=1m\""),
                    HasSubstr("<option value=\"profile\">cpu-clock</option>"),
                    HasSubstr("<option value=\"15m\">"), HasSubstr(">all, 1 h</option>"),
                    HasSubstr("\"/metrics\"")));
}

TEST(IndexPage, SaysWhyItIsNotReady) {
  IndexFacts facts = Facts();
  facts.problem = "nothing is <recorded> now";
  facts.recorded_since_ns.reset();
  facts.history = {};
  EXPECT_THAT(IndexPage(facts), AllOf(HasSubstr("not ready: nothing is &lt;recorded> now<"),
                                      HasSubstr("nothing yet"), Not(HasSubstr("Recording"))));
}

TEST(IndexPage, EscapesNamesOfEvents) {
  IndexFacts facts = Facts();
  facts.events = {"p:\"><script>&%?#", "uprobe:/a b/c:f+0x1"};
  EXPECT_THAT(
      IndexPage(facts),
      AllOf(Not(HasSubstr("<script")), HasSubstr("<option value=\"p:&quot;>&lt;script>&amp;%?#\">"),
            HasSubstr("\"/flamegraph?event=p:%22%3E%3Cscript%3E%26%25%3F%23&amp;since=1m\""),
            HasSubstr("\"/debug/pprof/uprobe:%2Fa%20b%2Fc:f%2B0x1?since=1m\"")));
}

// The service has no other files.
TEST(IndexPage, AsksForNothing) {
  const std::string page = IndexPage(Facts());
  for (const char* const text : {"<script", "<link", "<img", "src=", "url(", "@import", "https:"}) {
    EXPECT_THAT(page, Not(HasSubstr(text)));
  }
}

}  // namespace
}  // namespace perftape::serve
