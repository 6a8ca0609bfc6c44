// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/options.h"

#include <gmock/gmock.h>

namespace perftape::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

enum class Root : std::uint8_t { kComm, kNone };

struct Plan : BaseOptions {
  std::vector<std::string> freqs;
  std::optional<std::string> output;
  std::string duration;
  bool g = false;
  std::optional<std::string> level;
  Root root = Root::kComm;
  std::vector<Root> roots;
  bool gzip = false;
};

constexpr Choice<Root> kRoots[] = {{"comm", Root::kComm, "default"}, {"none", Root::kNone}};

constexpr Option kRows[] = {
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = "samples a second",
     .into = Store<&Plan::freqs>},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the result",
     .into = Store<&Plan::output>},
    {.name = "duration",
     .argument = "SECONDS",
     .help = "how long",
     .conflicts = "g",
     .into = Store<&Plan::duration>},
    {.name = "quiet", .letter = 'q', .help = "errors only", .into = Set<&BaseOptions::quiet>},
    {.letter = 'g', .help = "call chains", .into = Set<&Plan::g>},
    {.name = "level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "how small",
     .argument_is_optional = true,
     .into = Store<&Plan::level>},
    {.name = "root",
     .argument = "KIND",
     .help = "begin with {choices}",
     .into = StoreChoice<kRoots, &Plan::root>},
    {.name = "roots", .argument = "LIST", .help = "x", .into = StoreChoices<kRoots, &Plan::roots>},
    {.name = "gzip", .help = "x", .applies_to = "pprof", .into = Set<&Plan::gzip>},
};
constexpr auto kOptions = Table(InGroup(Group::kOther, kRows));
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

Result<Plan> ParseWords(const Command& command, std::vector<std::string> words) {
  return Parse<Plan>(command, words);
}

std::string ErrorOf(const Command& command, std::vector<std::string> words) {
  const Result<Plan> parsed = Parse<Plan>(command, words);
  return parsed ? "no error" : parsed.error().message;
}

TEST(Parse, AcceptsAnArgumentInAllFourForms) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"-F99"}, {"-F", "99"}, {"--freq=99"}, {"--freq", "99"}}) {
    const auto parsed = Parse<Plan>(kMixed, words);
    ASSERT_TRUE(parsed) << words[0];
    EXPECT_THAT(parsed->freqs, ElementsAre("99")) << words[0];
  }
}

TEST(Parse, AcceptsCombinedLetters) {
  const auto parsed = ParseWords(kMixed, {"-qgo", "x.data"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->quiet);
  EXPECT_TRUE(parsed->g);
  EXPECT_EQ(parsed->output, "x.data");
}

TEST(Parse, UsesTheLastValueAndKeepsBoth) {
  const auto parsed = ParseWords(kMixed, {"-F", "1", "--duration=1", "-F", "2", "--duration=2"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->duration, "2");
  EXPECT_THAT(parsed->freqs, ElementsAre("1", "2"));
}

TEST(Parse, AcceptsOptionsAfterOperands) {
  const auto parsed = ParseWords(kMixed, {"in.data", "-o", "out.folded"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands, ElementsAre("in.data"));
  EXPECT_EQ(parsed->output, "out.folded");
}

TEST(Parse, AcceptsADashAsOperandOrValue) {
  const auto parsed = ParseWords(kMixed, {"-", "-o", "-"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands, ElementsAre("-"));
  EXPECT_EQ(parsed->output, "-");
}

TEST(Parse, TreatsAllAfterTwoDashesAsOperands) {
  const auto parsed = ParseWords(kMixed, {"-q", "--", "-F", "--output"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands, ElementsAre("-F", "--output"));
}

TEST(Parse, LeavesACommandItsOwnOptions) {
  const auto parsed = ParseWords(kRunner, {"-F", "99", "sleep", "-q", "--", "1"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->freqs, ElementsAre("99"));
  EXPECT_FALSE(parsed->quiet);
  EXPECT_THAT(parsed->operands, ElementsAre("sleep", "-q", "--", "1"));
}

TEST(Parse, RemovesTheDashesBeforeACommand) {
  const auto parsed = ParseWords(kRunner, {"-qo", "x", "--duration=1", "--", "ls", "-F"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->output, "x");
  EXPECT_THAT(parsed->operands, ElementsAre("ls", "-F"));
}

TEST(Parse, DoesNotTreatAValueAsTheCommand) {
  const auto parsed = ParseWords(kRunner, {"--duration", "2", "-qF", "9"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->duration, "2");
  EXPECT_THAT(parsed->freqs, ElementsAre("9"));
  EXPECT_THAT(parsed->operands, IsEmpty());
}

TEST(Parse, ReadsOptionalArgumentsFromTheSameWordOnly) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-z3"}, {"-qz3"}, {"--level=3"}}) {
    const auto parsed = Parse<Plan>(kMixed, words);
    ASSERT_TRUE(parsed) << words[0];
    EXPECT_EQ(parsed->level, "3") << words[0];
  }
}

TEST(Parse, DoesNotReadOptionalArgumentsFromNextWord) {
  for (const std::string word : {"-z", "-qz", "--level"}) {
    const auto mixed = ParseWords(kMixed, {word, "3"});
    ASSERT_TRUE(mixed) << word;
    EXPECT_EQ(mixed->level, "") << word;
    EXPECT_THAT(mixed->operands, ElementsAre("3")) << word;
    const auto runner = ParseWords(kRunner, {word, "3", "-q"});
    ASSERT_TRUE(runner) << word;
    EXPECT_EQ(runner->level, "") << word;
    EXPECT_THAT(runner->operands, ElementsAre("3", "-q")) << word;
  }
}

TEST(Parse, AcceptsAnOptionAfterAMissingOptionalArgument) {
  const auto parsed = ParseWords(kRunner, {"-z", "-q", "--level", "-F", "9", "ls"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->level, "");
  EXPECT_THAT(parsed->freqs, ElementsAre("9"));
  EXPECT_THAT(parsed->operands, ElementsAre("ls"));
}

TEST(Parse, NamesAnUnknownOptionAndTheOneThatWasMeant) {
  EXPECT_EQ(ErrorOf(kMixed, {"--durration", "1"}),
            "unknown option --durration; did you mean --duration?");
  EXPECT_EQ(ErrorOf(kMixed, {"--dur"}), "unknown option --dur; did you mean --duration?");
  EXPECT_EQ(ErrorOf(kMixed, {"--frequency=9"}), "unknown option --frequency; did you mean --freq?");
  EXPECT_EQ(ErrorOf(kMixed, {"--stack-size=3"}), "unknown option --stack-size");
}

TEST(Parse, SuggestsReplacementsForOptionsOfOtherTools) {
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

TEST(Parse, ReportsAMissingArgument) {
  EXPECT_EQ(ErrorOf(kMixed, {"-F"}), "--freq needs HZ");
  EXPECT_EQ(ErrorOf(kMixed, {"--output"}), "--output needs FILE");
  EXPECT_EQ(ErrorOf(kRunner, {"-o"}), "--output needs FILE");
}

TEST(Parse, ReportsAnEmptyOptionalArgument) {
  EXPECT_EQ(ErrorOf(kMixed, {"--level="}), "--level needs LEVEL");
}

TEST(Parse, RefusesAnArgumentForASwitch) {
  EXPECT_EQ(ErrorOf(kMixed, {"--quiet=yes"}), "--quiet takes no argument");
}

TEST(Parse, AcceptsTheOptionsOfAllTools) {
  EXPECT_TRUE(ParseWords(kMixed, {"-h"})->help);
  EXPECT_TRUE(ParseWords(kMixed, {"--version"})->version);
  EXPECT_EQ(ParseWords(kMixed, {"--completion", "bash"})->completion, "bash");
}

TEST(Parse, AnswersACommonOptionWithoutReadingTheOthers) {
  const auto parsed = ParseWords(kMixed, {"--root=bad", "--help"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->help);
}

TEST(Parse, ReadsChoicesAndNamesThemForAnUnknownValue) {
  EXPECT_EQ(ParseWords(kMixed, {"--root", "none"})->root, Root::kNone);
  EXPECT_EQ(ErrorOf(kMixed, {"--root=x"}), "unknown value 'x' for --root: choose comm or none");
  EXPECT_THAT(ParseWords(kMixed, {"--roots=none,comm"})->roots,
              ElementsAre(Root::kNone, Root::kComm));
  EXPECT_EQ(ErrorOf(kMixed, {"--roots=comm,x"}),
            "unknown value 'x' for --roots: choose comm or none");
}

TEST(Parse, RefusesOptionsThatConflictAsTheyWereTyped) {
  EXPECT_EQ(ErrorOf(kMixed, {"--duration", "1", "-g"}), "--duration and -g cannot be combined");
  EXPECT_EQ(ErrorOf(kMixed, {"-qg", "--duration", "1"}), "-g and --duration cannot be combined");
}

TEST(CheckAppliesTo, RefusesAnOptionOfAnotherFormat) {
  const auto plan = ParseWords(kMixed, {"--gzip"});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(CheckAppliesTo(*plan, "--to", "pprof"));
  const Status status = CheckAppliesTo(*plan, "--to", "folded");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "--gzip applies only to --to pprof");
}

}  // namespace
}  // namespace perftape::cli
