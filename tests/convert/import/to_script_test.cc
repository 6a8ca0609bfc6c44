// SPDX-License-Identifier: Apache-2.0
// Also reads the text again, so it is beside the tests of readers.
#include "convert/export/to_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "convert/import/from_script.h"
#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Written {
  std::string text;
  ScriptReport report;

  // The text after its header.
  std::string samples() const {
    const std::size_t end = text.find("\n#\n");
    return end == std::string::npos ? text : text.substr(end + 3);
  }
};

Written Write(const Profile& profile, const ScriptOptions& options = {}) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out").value();
  Result<ScriptReport> report = WriteScript(profile, options, out);
  EXPECT_TRUE(report);
  EXPECT_TRUE(std::move(out).Commit());
  return {ReadWholeFile(directory / "out").value(), *std::move(report)};
}

Profile Read(const std::string& text) {
  BytesInput input(AsBytes(text));
  ImportReport report;
  Result<Profile> profile = ReadScript(input, {.cpu_label = true, .time_label = true}, report);
  EXPECT_THAT(report.problems, IsEmpty());
  return profile.value();
}

// A sample with labels.
void HitAt(ProfileMaker& made, StackId stack, std::int64_t time_ns, std::int64_t count,
           std::optional<std::int64_t> cpu = {}) {
  std::vector<Label> labels = {{.key = made.builder.Add(kTimestampLabel),
                                .number = time_ns,
                                .unit = made.builder.Add("nanoseconds")}};
  if (cpu) {
    labels.push_back(
        {.key = made.builder.Add(kCpuLabel), .number = *cpu, .unit = made.builder.Add(kCpuLabel)});
  }
  made.builder.Add(Sample{.stack = stack,
                          .thread = made.Runs("app"),
                          .event = made.Counts("cycles"),
                          .labels = made.builder.Add(labels),
                          .count = count,
                          .period = 10 * count});
}

TEST(WriteScript, WritesASampleForEachCount) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("app"), made.Counts("cycles"), 2, 5);
  const Written written = Write(made.Make());
  EXPECT_EQ(written.text,
            "# ========\n# perftape text : 1\n# perftape event : sampled count cycles\n"
            "# ========\n#\n"
            "app 10/11 0.001000:          3 cycles: \n"
            "\t               0 f ([unknown])\n\t               0 main ([unknown])\n\n"
            "app 10/11 0.002000:          2 cycles: \n"
            "\t               0 f ([unknown])\n\t               0 main ([unknown])\n\n");
}

TEST(WriteScript, WritesAddressesAndInlinedCalls) {
  ProfileMaker made;
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const MappingId app = made.Map("/usr/bin/my app (1)");
  const StackId stack =
      made.Calls({made.Frame(app, 0x10, {"inner", "main"}), made.Frame(app, 0x20),
                  made.Frame(kernel, 0x30, {"entry"}), made.Frame(kernel, 0x40, {"leaf"})});
  made.Hit(stack, made.Runs("app"), made.Counts("cycles"), 1, 1);
  EXPECT_THAT(Write(made.Make()).samples(),
              HasSubstr("\n\t            1040 leaf ([kernel.kallsyms])\n"
                        "\t            1031 entry ([kernel.kallsyms])\n"
                        "\t              20 [unknown] (/usr/bin/my%20app%20%281%29)\n"
                        "\t              11 inner (inlined)\n"
                        "\t              11 main (/usr/bin/my%20app%20%281%29)\n\n"));
}

TEST(WriteScript, SortsSamplesByTheirTimes) {
  ProfileMaker made;
  const StackId stack = made.Calls({"main"});
  HitAt(made, stack, 2'000'000'000, 1, 3);
  HitAt(made, stack, 1'500'000'000, 1, 0);
  const std::string text = Write(made.Make()).samples();
  EXPECT_THAT(text, testing::StartsWith("app 10/11 [000] 1.500000: "));
  EXPECT_THAT(text, HasSubstr("\n\napp 10/11 [003] 2.000000: "));
}

TEST(WriteScript, WritesNanosecondsIfATimeHasThem) {
  ProfileMaker made;
  HitAt(made, made.Calls({"main"}), 2'000'000'001, 1);
  EXPECT_THAT(Write(made.Make()).samples(), testing::StartsWith("app 10/11 2.000000001: "));
}

TEST(WriteScript, WritesOneEventIfAsked) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("page-faults");
  const ThreadId app = made.Runs("app");
  made.Hit(made.Calls({"a"}), app, cycles, 1, 1);
  made.Hit(made.Calls({"b"}), app, faults, 1, 1);
  const Profile profile = made.Make();
  EXPECT_THAT(SampleLines(Read(Write(profile).text)),
              ElementsAre(HasSubstr("cycles app/10 a"), HasSubstr("page-faults app/10 b")));
  const std::string one = Write(profile, {.event = faults}).text;
  EXPECT_THAT(one, testing::Not(HasSubstr("cycles")));
  EXPECT_THAT(SampleLines(Read(one)), ElementsAre(HasSubstr("page-faults app/10 b")));
}

TEST(WriteScript, WritesSamplesWithoutAStackOrThread) {
  ProfileMaker made;
  made.Hit({}, {}, made.CountsPlainly("alloc_space", "bytes"), 0, 4096);
  const Written written = Write(made.Make());
  EXPECT_EQ(written.samples(),
            "[no-thread] 2147483647/2147483647 0.001000:       4096 alloc_space: \n"
            "\t               0 [unknown] ([unknown])\n\n");
  const Profile read = Read(written.text);
  ASSERT_EQ(read.samples().size(), 1);
  const Sample& sample = read.samples().front();
  EXPECT_EQ(sample.stack, StackId{});
  EXPECT_EQ(sample.thread, ThreadId{});
  EXPECT_EQ(sample.period, 4096);
  EXPECT_EQ(read[sample.event].values, EventValues::kPlain);
  EXPECT_EQ(read.text(read[sample.event].unit), "bytes");
}

TEST(WriteScript, IsReadAsTheSameProfile) {
  ProfileMaker made;
  const MappingId lib = made.Map("/lib/my lib.so");
  const std::vector<std::string> names = {
      "f(int) const", "a\nb",         "x+0x12",      "(anonymous namespace)::g",
      "%0A",          "h (/x) ([y])", "i (inlined)", "j => (k) => l"};
  StackId stack;
  for (const std::string& name : names) {
    stack = made.builder.Push(stack, made.Frame(lib, 0x100 + name.size(), {name}));
    HitAt(made, stack, 1'000'000'000 + static_cast<std::int64_t>(name.size()), 1, 7);
  }
  const Profile profile = made.Make();
  const Profile read = Read(Write(profile).text);
  EXPECT_EQ(SampleLines(read), SampleLines(profile));
}

TEST(WriteScript, InventsNoIds) {
  const auto written = [](const Thread& thread) {
    ProfileMaker made;
    Thread own = thread;
    own.comm = made.builder.Add("app");
    made.Hit({}, made.builder.Add(own), made.Counts("cycles"), 1, 1);
    return Write(made.Make()).text;
  };
  const auto read = [](const std::string& text) {
    const Profile profile = Read(text);
    const Thread& thread = profile[profile.samples().front().thread];
    return fmt::format("{} {} {}", profile.text(thread.comm), static_cast<std::int32_t>(thread.pid),
                       static_cast<std::int32_t>(thread.tid));
  };
  const std::string no_pid = written({.pid = kUnknownId, .tid = 8});
  EXPECT_THAT(no_pid, HasSubstr("\napp 8 0.001"));
  EXPECT_EQ(read(no_pid), "app -1 8");
  const std::string no_tid = written({.pid = 7, .tid = kUnknownId});
  EXPECT_THAT(no_tid, HasSubstr("\napp 7/-1 0.001"));  // as perf prints it
  EXPECT_EQ(read(no_tid), "app 7 -1");
  const std::string none = written({.pid = kUnknownId, .tid = kUnknownId});
  EXPECT_EQ(read(none), "app -1 -1");
  for (const std::string& text : {no_pid, none}) {
    EXPECT_THAT(text, Not(HasSubstr("4294967295")));
    EXPECT_THAT(text, Not(HasSubstr("-1")));
  }
}

TEST(WriteScript, ReportsWhatItLoses) {
  ProfileMaker made;
  const StackId stack = made.Calls({"f"});
  made.Hit(stack, made.Runs("my app"), made.Counts("cycles"), 1, 1);
  made.Hit(stack, made.Runs("a"), made.Counts("cycles"), 1, 1);
  made.Hit(stack, made.Runs("b1"), made.Counts("cycles"), -1, -1);
  made.Hit(stack, made.Runs("b2"), made.Counts("cycles"), 0, 5);
  made.Hit(stack, made.Runs("b3"), made.CountsPlainly("cost", "count", 1), 0, 15);
  const std::vector<Label> labels = {{.key = made.builder.Add("request"), .number = 1}};
  made.builder.Add(Sample{.stack = stack,
                          .event = made.Counts("cycles"),
                          .labels = made.builder.Add(labels),
                          .count = 1});
  const Written written = Write(made.Make());
  EXPECT_EQ(written.report.negative_samples, 1);
  EXPECT_EQ(written.report.uncounted_samples, 1);
  EXPECT_EQ(written.report.changed_comms, 2);
  EXPECT_THAT(written.report.rounded_events, ElementsAre("cost"));
  EXPECT_THAT(written.report.lost_labels, ElementsAre("request"));
  EXPECT_EQ(LossLines(written.report).size(), 5);
  EXPECT_THAT(written.text, HasSubstr("my_app 10/11 "));
  EXPECT_THAT(written.text, HasSubstr("a_ 10/11 "));
  EXPECT_THAT(written.text, HasSubstr("          2 cost: "));
  EXPECT_THAT(LossLines({}), IsEmpty());
}

TEST(WriteScript, LetsCountsShareSamplesIfThereAreTooMany) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), made.Runs("app"), made.Counts("cycles"), 1'000'000'000'000, 100);
  const Written written = Write(made.Make(), {.most_samples = 4});
  EXPECT_EQ(written.report.joined_counts, 999'999'999'996U);
  EXPECT_EQ(SampleLines(Read(written.text)).size(), 4);
}

TEST(WriteScript, DoesNotDependOnTheOrderOfSamples) {
  ProfileMaker one, other;
  one.Hit(one.Calls({"f"}), one.Runs("a1"), one.Counts("cycles"), 1, 1);
  one.Hit(one.Calls({"g"}), one.Runs("a2"), one.Counts("faults"), 1, 1);
  one.Hit(one.Calls({"g"}), one.Runs("a2"), one.Counts("cycles"), 1, 1);
  other.Counts("faults");
  other.Hit(other.Calls({"g"}), other.Runs("a2"), other.Counts("faults"), 1, 1);
  other.Hit(other.Calls({"f"}), other.Runs("a1"), other.Counts("cycles"), 1, 1);
  other.Hit(other.Calls({"g"}), other.Runs("a2"), other.Counts("cycles"), 1, 1);
  EXPECT_EQ(Write(one.Make()).text, Write(other.Make()).text);
}

TEST(WriteScript, WritesAProfileWithoutSamples) {
  EXPECT_EQ(Write(Profile()).text, "# ========\n# perftape text : 1\n# ========\n#\n");
}

}  // namespace
}  // namespace perftape::convert
