// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/flame_graph/page_files.h"
#include "formats/perfdata/event_meanings.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/convert/timeline/recorded_threads.h"
#include "tests/support/temp_dir.h"

namespace perftape::flame_graph {
namespace {

using convert::EventId;
using convert::ProfileMaker;
using testing::HasSubstr;
using testing::Not;

std::string Html(const convert::Profile& profile, const PageTimes& times = {}) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.html").value();
  EXPECT_TRUE(WriteHtml(profile, {}, times, out));
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "out.html").value();
}

TEST(WriteHtml, NamesItsScriptAndStyleByHash) {
  const std::string page = Html(convert::Profile());
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, HasSubstr("style-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("_hash@")));
  EXPECT_THAT(page, Not(HasSubstr("@script@")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST(WriteHtml, HasNamesOnlyInItsCompressedData) {
  ProfileMaker made;
  made.Hit(made.Calls({"</script><script>alert(1)"}), made.Runs("<b>comm"), made.Counts("<i>"), 1);
  const std::string page = Html(made.Make());
  ASSERT_TRUE(page.starts_with(UnpackText(kPageBeforeData)));
  ASSERT_TRUE(page.ends_with(UnpackText(kPageAfterData)));
  const std::string content =
      page.substr(kPageBeforeData.size, page.size() - kPageBeforeData.size - kPageAfterData.size);
  EXPECT_EQ(content.find_first_not_of(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
            std::string::npos);
}

TEST(WriteHtml, DoesNotDependOnTheOrderOfSamples) {
  const auto make = [](bool is_reversed) {
    ProfileMaker made;
    const EventId cycles = made.Counts("cycles");
    for (int i = 0; i < 20; ++i) {
      const std::string name = "f" + std::to_string(is_reversed ? 19 - i : i);
      made.Hit(made.Calls({"main", name, "leaf"}), made.Runs("app"), cycles, 1);
    }
    return Html(made.Make());
  };
  EXPECT_EQ(make(false), make(true));
}

// A short program may never have waited for a CPU, but that is recorded: it ran between its waits.
TEST(WriteHtml, KnowsEventsWithoutSamples) {
  timeline::RecordedThreads recorded;
  const convert::ThreadId main = recorded.Thread("main", 10, 10);
  recorded.Slept(main, 10, 20, recorded.Calls({"main"}));
  recorded.Slept(main, 30, 40, recorded.Calls({"main"}));
  const convert::Profile profile = recorded.Make();
  const std::string runnable(perfdata::kOffCpuRunnableTime.name);
  EXPECT_NE(Html(profile), Html(profile, {.event_names = {runnable}}));
}

TEST(WriteHtml, ReportsNegativeSamples) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.CountsPlainly("delta"), 0, -1);
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.html").value();
  const auto report = WriteHtml(made.Make(), {}, {}, out);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->negative_samples, 1);
}

}  // namespace
}  // namespace perftape::flame_graph
