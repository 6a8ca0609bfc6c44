// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/command_line.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert_tool {
namespace {

using testing::HasSubstr;

Result<Plan> PlanOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(Plan parsed, cli::Parse<Plan>(ConvertCommand(), words));
  return PlanOf(std::move(parsed));
}

auto Refuses(const char* message) {
  return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
}

TEST(ConvertPlan, DerivesTheFormatFromTheExtension) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "out.folded"})->to->name, "folded");
  EXPECT_EQ(PlanOfWords({"in", "-o", "out.pb.gz"})->to->name, "pprof");
}

TEST(ConvertPlan, PrefersToOverTheExtension) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "out.pb.gz", "--to", "folded"})->to->name, "folded");
}

TEST(ConvertPlan, WritesToStdoutWhereOnlyTheFormatIsNamed) {
  const auto plan = PlanOfWords({"-", "--to", "folded"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->inputs, testing::ElementsAre("-"));
  EXPECT_EQ(plan->output, "-");
}

TEST(ConvertPlan, ReportsMissingArguments) {
  EXPECT_THAT(PlanOfWords({"-o", "x.folded"}), Refuses("no input files given"));
  EXPECT_THAT(PlanOfWords({"in"}), Refuses("no output given: use -o FILE"));
  EXPECT_THAT(PlanOfWords({"in", "profile.html"}), Refuses("no output given: use -o profile.html"));
  EXPECT_THAT(PlanOfWords({"in", "other.txt"}), Refuses("no output given: use -o FILE"));
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.txt"}),
              Refuses("use --to perf.data, perf-script, cpuprofile, folded, "));
  EXPECT_THAT(PlanOfWords({"in", "-o", "-"}),
              Refuses("use --to perf.data, perf-script, cpuprofile, folded, "));
}

TEST(ConvertPlan, RefusesFormatsThatItCannotReadOrWrite) {
  EXPECT_THAT(PlanOfWords({"in", "--to", "gif"}),
              Refuses("unknown value 'gif' for --to: choose perf.data, perf-script, cpuprofile"));
  EXPECT_THAT(PlanOfWords({"in", "--to", "folded", "--from", "nfdump"}),
              Refuses("unknown value 'nfdump' for --from: choose perf.data"));
}

TEST(ConvertPlan, ReadsTheTimesOfOneRecordingForAPage) {
  const auto reads_times = [](std::vector<std::string> words) {
    return PlanOfWords(std::move(words))->import.time_label;
  };
  EXPECT_TRUE(reads_times({"in", "-o", "x.html"}));
  EXPECT_FALSE(reads_times({"in", "-o", "x.svg"}));
  EXPECT_FALSE(reads_times({"in", "other", "-o", "x.html"})) << "they have no common clock";
  EXPECT_FALSE(reads_times({"in", "--diff", "old", "-o", "x.html"}));
  EXPECT_FALSE(reads_times({"in", "-o", "x.html", "--time-view", "never"}));
  EXPECT_EQ(PlanOfWords({"in", "-o", "x.html"})->import.most_timed_samples, kMostTimedSamples);
  EXPECT_EQ(PlanOfWords({"in", "-o", "x.html", "--time-view", "always"})->import.most_timed_samples,
            UINT64_MAX);
  EXPECT_THAT(PlanOfWords({"in", "other", "-o", "x.html", "--time-view", "always"}),
              Refuses("a page can show only one recording over time"));
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.html", "--latency", "--time-view", "always"}),
              Refuses("none with --diff, --against, --latency"));
}

TEST(ConvertPlan, ShowsAViewOverTimeOnAPage) {
  const auto shows_times = [](std::vector<std::string> words) {
    return PlanOfWords(std::move(words))->time_view.at_times;
  };
  for (const std::string view : {"--path", "--wall"}) {
    EXPECT_TRUE(shows_times({"in", "-o", "x.html", view}));
    EXPECT_TRUE(shows_times({"in", "-o", "x.html", view, "--time-view", "always"}));
    EXPECT_FALSE(shows_times({"in", "-o", "x.html", view, "--time-view", "never"}));
    EXPECT_FALSE(shows_times({"in", "-o", "x.folded", view}));
    EXPECT_EQ(PlanOfWords({"in", "-o", "x.html", view})->import.most_timed_samples, UINT64_MAX)
        << "it needs all times";
  }
  EXPECT_FALSE(shows_times({"in", "-o", "x.html", "--path", "--slowest", "1", "--against"}));
  EXPECT_FALSE(shows_times({"in", "-o", "x.html", "--latency"}));
}

TEST(ConvertPlan, ReplacesAnOutputOnlyWithForce) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "x.folded"})->write.if_exists, IfExists::kRefuse);
  EXPECT_EQ(PlanOfWords({"-f", "in", "-o", "x.folded"})->write.if_exists, IfExists::kReplace);
}

TEST(ConvertPlan, HandsFoldedOptionsOn) {
  const auto plan =
      PlanOfWords({"in", "--to=folded", "--values=period", "--mark-kernel", "--root=none"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->write.folded.value, convert::FoldedValue::kPeriod);
  EXPECT_TRUE(plan->write.folded.mark_kernel);
  EXPECT_EQ(plan->write.folded.root, folded::Root::kNone);
  EXPECT_THAT(PlanOfWords({"in", "--to=folded", "--values=bytes"}),
              Refuses("unknown value 'bytes' for --values: choose samples or period"));
}

TEST(ConvertPlan, RefusesNamesFromAFileWhereNoneAreWanted) {
  EXPECT_THAT(PlanOfWords({"in", "--to=folded", "--no-symbols", "--debug-dir", "d"}),
              Refuses("--no-symbols and --debug-dir cannot be combined"));
  EXPECT_THAT(PlanOfWords({"in", "--to=folded", "--no-symbols", "--kallsyms", "k"}),
              Refuses("--no-symbols and --kallsyms cannot be combined"));
}

TEST(ConvertPlan, NormalizesAPerfData) {
  const auto plan = PlanOfWords({"in", "-o", "out.data", "-z3", "--pipe", "--compat", "6.1"});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->to->name, "perf.data");
  EXPECT_EQ(plan->normalize.compression_level, 3);
  EXPECT_EQ(plan->normalize.container, perfdata::Container::kPipe);
  ASSERT_NE(plan->normalize.reader, nullptr);
  EXPECT_EQ(plan->normalize.reader->version, "6.1");
}

TEST(ConvertPlan, SendsAStreamToStdout) {
  const auto plan = PlanOfWords({"in", "--to", "perf.data"});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->normalize.container, perfdata::Container::kPipe);
}

TEST(ConvertPlan, AcceptsPerfDataOptionsOnlyForPerfData) {
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.folded", "-z"}),
              Refuses("applies only to --to perf.data"));
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.data", "--compat", "5.4"}),
              Refuses("unknown value '5.4' for --compat: choose 6.1 or 6.12"));
}

TEST(ConvertPlan, AcceptsPprofAndFoldedOptionsOnlyForThese) {
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.folded", "--no-gzip"}),
              Refuses("applies only to --to pprof"));
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.pb", "--root=none"}),
              Refuses("applies only to --to folded"));
  EXPECT_THAT(
      PlanOfWords({"in", "-o", "x.pb", "--labels=cpu,x"}),
      Refuses(
          "unknown value 'x' for --labels: choose cpu, cgroup, pod, service, time or field:NAME"));
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.pb", "--labels=field:"}),
              Refuses("unknown value 'field:' for --labels: choose cpu, cgroup, pod, service, time "
                      "or field:NAME"));
}

TEST(ConvertPlan, ReadsTimesForOtlpOnlyIfTheyAreAskedFor) {
  EXPECT_FALSE(PlanOfWords({"in", "-o", "x.otlp"})->import.time_label);
  EXPECT_TRUE(PlanOfWords({"in", "-o", "x.otlp", "--labels=time"})->import.time_label);
  EXPECT_THAT(PlanOfWords({"in", "-o", "x.svg", "--labels=time"}),
              Refuses("applies only to --to pprof or otlp"));
}

TEST(ConvertPlan, ReadsInputsFromOperandsOptionsAndLists) {
  const TempDir directory;
  std::ofstream(directory / "list") << std::string_view("c\0d\0", 4);
  const std::string list = (directory / "list").native();
  const auto plan = PlanOfWords({"a", "-i", "b", "--files-from0", list, "--to=folded"});
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->inputs, testing::ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(PlanOfWords({"a", "b", "c", "--shard=2/3", "--to=folded"})->inputs,
              testing::ElementsAre("b"));
  EXPECT_THAT(PlanOfWords({"-", "-", "--to=folded"}), Refuses("stdin can be read only once"));
}

TEST(ConvertPlan, PrintsJsonOnlyIfStdoutIsFree) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "x.folded", "--json"})->report_as, ReportAs::kJson);
  EXPECT_THAT(PlanOfWords({"in", "--to=folded", "--json"}),
              Refuses("--json cannot be combined with an output to stdout"));
}

}  // namespace
}  // namespace perftape::convert_tool
