// SPDX-License-Identifier: Apache-2.0
#include "tools/perftape/command_line.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tools/common/cli/help.h"

namespace perftape::front_tool {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(FrontCommand, HasTheThreeCommandsThatMostPeopleNeed) {
  const std::string text = cli::BriefText(FrontCommand());
  ASSERT_EQ(FrontCommand().examples.size(), 3U);
  for (const std::string_view verb : {"record", "report", "convert"}) {
    EXPECT_THAT(text, HasSubstr("\n  perftape " + std::string(verb)));
  }
}

TEST(FrontCommand, HasNoVerbWithTheNameOfATopic) {
  for (const cli::Topic& topic : FrontCommand().topics) {
    EXPECT_EQ(std::ranges::find(FrontCommand().verbs, topic.name, &cli::Verb::name),
              FrontCommand().verbs.end())
        << topic.name;
  }
}

TEST(TopicText, OfEachTopicIsASectionOfAManPage) {
  for (const cli::Topic& topic : FrontCommand().topics) {
    EXPECT_GT(TopicText(topic).size(), 300U) << topic.name;
  }
}

TEST(TopicText, HasNoMarksOfMarkdown) {
  for (const cli::Topic& topic : FrontCommand().topics) {
    EXPECT_THAT(TopicText(topic), Not(HasSubstr("**"))) << topic.name;
    EXPECT_THAT(TopicText(topic), Not(HasSubstr("\n:   "))) << topic.name;
  }
}

TEST(TopicText, OfUnitsHasThoseOfTimes) {
  const auto units = std::ranges::find(FrontCommand().topics, "units", &cli::Topic::name);
  ASSERT_NE(units, FrontCommand().topics.end());
  EXPECT_THAT(TopicText(*units), StartsWith("All options that take a TIME"));
  EXPECT_THAT(TopicText(*units), HasSubstr("\nTIME\n    A number with ns, us, ms, s, m"));
}

}  // namespace
}  // namespace perftape::front_tool
