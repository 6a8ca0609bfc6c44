// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/options.h"

#include <gmock/gmock.h>

namespace perftape::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Option kOptions[] = {
    {.name = "freq", .letter = 'F', .argument = "HZ", .help = "samples a second"},
    {.name = "output", .letter = 'o', .argument = "FILE", .help = "the result"},
    {.name = "duration", .argument = "SECONDS", .help = "how long"},
    {.name = "quiet", .letter = 'q', .help = "errors only"},
    {.letter = 'g', .help = "call chains"},
    {.name = "level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "how small",
     .argument_is_optional = true},
};
constexpr ForeignOption kForeign[] = {
    {.name = "time", .letter = 'T', .instead = "--duration ends it"}};
constexpr Command kMixed = {.name = "perftape-x",
                            .purpose = "tests",
                            .operands = "FILE",
                            .options = kOptions,
                            .foreign = kForeign};
constexpr Command kRunner = {.name = "perftape-x",
                             .purpose = "tests",
                             .operands = "[--] COMMAND",
                             .options = kOptions,
                             .order = Order::kOptionsFirst};

Result<Parsed> ParseWords(const Command& command, std::vector<std::string> words) {
  return Parse(command, words);
}

std::string ErrorOf(const Command& command, std::vector<std::string> words) {
  const Result<Parsed> parsed = Parse(command, words);
  return parsed ? "no error" : parsed.error().message;
}

TEST(Parse, TakesAnArgumentInAllFourForms) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"-F99"}, {"-F", "99"}, {"--freq=99"}, {"--freq", "99"}}) {
    const auto parsed = Parse(kMixed, words);
    ASSERT_TRUE(parsed) << words[0];
    EXPECT_EQ(parsed->Value("freq"), "99") << words[0];
  }
}

TEST(Parse, TakesLettersTogether) {
  const auto parsed = ParseWords(kMixed, {"-qgo", "x.data"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->Has("quiet"));
  EXPECT_TRUE(parsed->Has("g"));
  EXPECT_EQ(parsed->Value("output"), "x.data");
}

TEST(Parse, LetsTheLastOfTwoValuesStandAndKeepsBoth) {
  const auto parsed = ParseWords(kMixed, {"-F", "1", "-F", "2"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->Value("freq"), "2");
  EXPECT_THAT(parsed->Values("freq"), ElementsAre("1", "2"));
}

TEST(Parse, TakesOptionsBehindOperands) {
  const auto parsed = ParseWords(kMixed, {"in.data", "-o", "out.folded"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands(), ElementsAre("in.data"));
  EXPECT_EQ(parsed->Value("output"), "out.folded");
}

TEST(Parse, TakesADashForAnOperandAndForAValue) {
  const auto parsed = ParseWords(kMixed, {"-", "-o", "-"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands(), ElementsAre("-"));
  EXPECT_EQ(parsed->Value("output"), "-");
}

TEST(Parse, TakesAllBehindTwoDashesForOperands) {
  const auto parsed = ParseWords(kMixed, {"-q", "--", "-F", "--output"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands(), ElementsAre("-F", "--output"));
}

TEST(Parse, LeavesACommandItsOwnOptions) {
  const auto parsed = ParseWords(kRunner, {"-F", "99", "sleep", "-q", "--", "1"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->Value("freq"), "99");
  EXPECT_FALSE(parsed->Has("quiet"));
  EXPECT_THAT(parsed->operands(), ElementsAre("sleep", "-q", "--", "1"));
}

TEST(Parse, TakesTheDashesBeforeACommandAway) {
  const auto parsed = ParseWords(kRunner, {"-qo", "x", "--duration=1", "--", "ls", "-F"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->Value("output"), "x");
  EXPECT_THAT(parsed->operands(), ElementsAre("ls", "-F"));
}

TEST(Parse, DoesNotTakeAValueForTheCommand) {
  const auto parsed = ParseWords(kRunner, {"--duration", "2", "-qF", "9"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->Value("duration"), "2");
  EXPECT_EQ(parsed->Value("freq"), "9");
  EXPECT_THAT(parsed->operands(), IsEmpty());
}

TEST(Parse, TakesAnOptionalArgumentFromTheSameWordOnly) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-z3"}, {"-qz3"}, {"--level=3"}}) {
    const auto parsed = Parse(kMixed, words);
    ASSERT_TRUE(parsed) << words[0];
    EXPECT_EQ(parsed->Value("level"), "3") << words[0];
  }
}

TEST(Parse, LeavesTheNextWordToOthersWhereAnArgumentIsOptional) {
  for (const std::string word : {"-z", "-qz", "--level"}) {
    const auto mixed = ParseWords(kMixed, {word, "3"});
    ASSERT_TRUE(mixed) << word;
    EXPECT_EQ(mixed->Value("level"), "") << word;
    EXPECT_THAT(mixed->operands(), ElementsAre("3")) << word;
    const auto runner = ParseWords(kRunner, {word, "3", "-q"});
    ASSERT_TRUE(runner) << word;
    EXPECT_EQ(runner->Value("level"), "") << word;
    EXPECT_THAT(runner->operands(), ElementsAre("3", "-q")) << word;
  }
}

TEST(Parse, TakesAnOptionalArgumentThatIsLeftOutBeforeAnotherOption) {
  const auto parsed = ParseWords(kRunner, {"-z", "-q", "--level", "-F", "9", "ls"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->Count("level"), 2U);
  EXPECT_EQ(parsed->Value("freq"), "9");
  EXPECT_THAT(parsed->operands(), ElementsAre("ls"));
}

TEST(Parse, NamesAnUnknownOptionAndTheOneThatWasMeant) {
  EXPECT_EQ(ErrorOf(kMixed, {"--durration", "1"}),
            "unknown option --durration; did you mean --duration?");
  EXPECT_EQ(ErrorOf(kMixed, {"--dur"}), "unknown option --dur; did you mean --duration?");
  EXPECT_EQ(ErrorOf(kMixed, {"--frequency=9"}), "unknown option --frequency; did you mean --freq?");
  EXPECT_EQ(ErrorOf(kMixed, {"--stack-size=3"}), "unknown option --stack-size");
}

TEST(Parse, SaysWhatThereIsInPlaceOfAnOptionOfOtherTools) {
  for (const char* word : {"--time=5", "--time"}) {
    EXPECT_EQ(ErrorOf(kMixed, {word, "5"}), "unknown option --time: --duration ends it");
  }
  for (const char* word : {"-T", "-T5", "-qT"}) {
    EXPECT_EQ(ErrorOf(kMixed, {word}), "unknown option -T: --duration ends it");
  }
}

TEST(Parse, NamesAnUnknownLetterAmongOthers) {
  EXPECT_EQ(ErrorOf(kMixed, {"-qZ"}), "unknown option -Z");
}

TEST(Parse, SaysWhichArgumentIsMissing) {
  EXPECT_EQ(ErrorOf(kMixed, {"-F"}), "--freq needs HZ");
  EXPECT_EQ(ErrorOf(kMixed, {"--output"}), "--output needs FILE");
  EXPECT_EQ(ErrorOf(kRunner, {"-o"}), "--output needs FILE");
}

TEST(Parse, SaysSoWhereAnOptionalArgumentIsBegunAndEmpty) {
  EXPECT_EQ(ErrorOf(kMixed, {"--level="}), "--level needs LEVEL");
}

TEST(Parse, RefusesAnArgumentForASwitch) {
  EXPECT_EQ(ErrorOf(kMixed, {"--quiet=yes"}), "--quiet takes no argument");
}

TEST(Parse, KnowsTheOptionsThatAllToolsHave) {
  EXPECT_TRUE(ParseWords(kMixed, {"-h"})->Has("help"));
  EXPECT_TRUE(ParseWords(kMixed, {"--version"})->Has("version"));
  EXPECT_EQ(ParseWords(kMixed, {"--completion", "bash"})->Value("completion"), "bash");
}

}  // namespace
}  // namespace perftape::cli
