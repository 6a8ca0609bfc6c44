// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/base/joined_files.h"
#include "formats/json_profiles/chrome_trace.h"
#include "formats/json_profiles/cpuprofile.h"
#include "formats/json_profiles/firefox.h"
#include "formats/json_profiles/speedscope.h"
#include "tests/support/matchers.h"

namespace perftape::json_profiles {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::string_view kSpeedscope =
    R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"x",)"
    R"("shared":{"frames":[{"name":"main","file":"a.c","line":3},{"name":"f","x":[{}]}]},)"
    R"("profiles":[{"type":"sampled","name":"t","unit":"none","samples":[[0,1],[]],)"
    R"("weights":[2,1.5]},{"type":"evented","events":[{"type":"O","frame":1,"at":7}]}]})";

TEST(ReadSpeedscopeFile, ReadsBothTypes) {
  EXPECT_TRUE(IsSpeedscope(kSpeedscope));
  const SpeedscopeFile file = ReadSpeedscopeFile(kSpeedscope).value();
  ASSERT_THAT(file.frames, SizeIs(2));
  EXPECT_EQ(file.frames[0].name, "main");
  EXPECT_EQ(file.frames[0].line, 3);
  ASSERT_THAT(file.profiles, SizeIs(2));
  EXPECT_THAT(file.profiles[0].frames, ElementsAre(0, 1));
  EXPECT_THAT(file.profiles[0].ends, ElementsAre(2, 2));
  EXPECT_EQ(file.profiles[0].weights.at(0).integer, 2);
  EXPECT_EQ(file.profiles[0].weights.at(1).value, 1.5);
  EXPECT_TRUE(file.profiles[1].events.at(0).opens);
  EXPECT_EQ(file.profiles[1].events.at(0).at.integer, 7);
}

constexpr std::string_view kCpuProfile =
    R"J({"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},)J"
    R"J("hitCount":0,"children":[2]},{"id":2,"callFrame":{"functionName":"f","lineNumber":3}}],)J"
    R"J("startTime":1,"endTime":9.0,"samples":[2],"timeDeltas":[-4]})J";

TEST(ReadCpuProfileFile, ReadsNodesAndSamples) {
  EXPECT_TRUE(IsCpuProfile(kCpuProfile));
  const CpuProfileFile file = ReadCpuProfileFile(kCpuProfile).value();
  ASSERT_THAT(file.nodes, SizeIs(2));
  EXPECT_THAT(file.nodes[0].children, ElementsAre(2));
  EXPECT_EQ(file.nodes[1].function, "f");
  EXPECT_EQ(file.nodes[1].line, 3);
  EXPECT_EQ(file.end_time, 9);
  EXPECT_THAT(file.samples, ElementsAre(2));
  EXPECT_THAT(file.time_deltas, ElementsAre(-4));
}

TEST(ReadCpuProfileFile, ReadsTheOldFormAndTheInspectors) {
  constexpr std::string_view kOld =
      R"J({"head":{"functionName":"(root)","id":1,"children":[{"functionName":"f","url":"a.js",)J"
      R"J("lineNumber":4,"id":2,"hitCount":7,"children":[]}]},"startTime":1,"endTime":2,)J"
      R"J("samples":[2,2],"timestamps":[1000000,1000250]})J";
  EXPECT_TRUE(IsCpuProfile(kOld));
  const CpuProfileFile file = ReadCpuProfileFile(kOld).value();
  ASSERT_THAT(file.nodes, SizeIs(2));
  EXPECT_THAT(file.nodes[0].children, ElementsAre(2));
  EXPECT_EQ(file.nodes[1].function, "f");
  EXPECT_EQ(file.nodes[1].line, 3);
  EXPECT_THAT(file.time_deltas, ElementsAre(0, 250));
  EXPECT_EQ(file.end_time, 2'000'000);
  const std::string answer = fmt::format(R"({{"id":1,"result":{{"profile":{}}}}})", kCpuProfile);
  EXPECT_TRUE(IsCpuProfile(answer));
  EXPECT_THAT(ReadCpuProfileFile(answer).value().nodes, SizeIs(2));
}

constexpr std::string_view kTrace =
    R"J([{"name":"thread_name","ph":"M","pid":7,"tid":1,"args":{"name":"Main"}},)J"
    R"J({"name":"Profile","ph":"P","id":"0x1","pid":7,"tid":1,"args":{"data":{"startTime":9}}},)J"
    R"J({"name":"ProfileChunk","ph":"P","id":"0x1","pid":7,"tid":2,"args":{"data":{"cpuProfile":)J"
    R"J({"nodes":[{"id":1,"callFrame":{"functionName":"f"}},{"id":2,"parent":1,"callFrame":)J"
    R"J({"functionName":"g"}}],"samples":[2,1]},"timeDeltas":[5,6]}}}])J";

TEST(ReadChromeTrace, ReadsTheChunksOfEachThread) {
  EXPECT_TRUE(IsChromeTrace(kTrace));
  EXPECT_FALSE(IsCpuProfile(kTrace));
  EXPECT_FALSE(IsChromeTrace(kCpuProfile));
  const std::vector<CpuProfileFile> files = ReadChromeTrace(kTrace).value();
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_EQ(files[0].thread_name, "Main");
  EXPECT_EQ(files[0].tid, 1U);
  EXPECT_EQ(files[0].nodes.at(1).parent, 1);
  EXPECT_THAT(files[0].samples, ElementsAre(2, 1));
  EXPECT_THAT(files[0].time_deltas, ElementsAre(5, 6));
}

TEST(ReadChromeTrace, ReadsTheSamplesOfHermes) {
  const std::vector<CpuProfileFile> files =
      ReadChromeTrace(R"({"traceEvents":[],"samples":[{"pid":1,"tid":"2","ts":"8","sf":2}],)"
                      R"("stackFrames":{"1":{"name":"[root]"},"2":{"name":"f","parent":1}}})")
          .value();
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_THAT(files[0].samples, ElementsAre(2));
  EXPECT_EQ(files[0].nodes.at(1).function, "f");
  EXPECT_EQ(files[0].nodes.at(1).parent, 1);
}

constexpr std::string_view kFirefox =
    R"({"meta":{"interval":1,"product":"x","preprocessedProfileVersion":49},)"
    R"("libs":[{"name":"a","path":"/bin/a","codeId":"0123"}],"threads":[{"name":"t","pid":"7.1",)"
    R"("tid":8,"samples":{"stack":[1,null],"time":[0.5,1.5],"weight":null},"stackTable":)"
    R"({"frame":[0,0],"prefix":[null,0]},"frameTable":{"func":[0],"address":[16]},"funcTable":)"
    R"({"name":[0],"resource":[0]},"resourceTable":{"lib":[0]},"stringArray":["main"]}]})";

TEST(ReadFirefoxFile, ReadsTables) {
  EXPECT_TRUE(IsFirefox(kFirefox));
  EXPECT_FALSE(IsFirefox(kTrace) || IsFirefox(kCpuProfile));
  const FirefoxFile file = ReadFirefoxFile(kFirefox).value();
  ASSERT_THAT(file.threads, SizeIs(1));
  const FirefoxThread& thread = file.threads[0];
  EXPECT_EQ(thread.pid, 7U);
  EXPECT_THAT(thread.stacks, ElementsAre(1, -1));
  EXPECT_THAT(thread.time_ms, ElementsAre(0.5, 1.5));
  EXPECT_THAT(thread.tables.stacks.prefix, ElementsAre(-1, 0));
  EXPECT_THAT(thread.tables.strings, ElementsAre("main"));
  EXPECT_EQ(file.libs.at(0).code_id, "0123");
}

TEST(ReadFirefoxFile, ReadsRowsWithASchema) {
  const FirefoxFile file =
      ReadFirefoxFile(R"({"meta":{"interval":1,"processType":0},"threads":[{"name":"t","pid":7,)"
                      R"("samples":{"schema":{"stack":0,"time":1},"data":[[0,0.5],[null,1]]},)"
                      R"("frameTable":{"schema":{"location":0},"data":[[1,{"a":[2]}]]},)"
                      R"("stringTable":["a","b"]}],"processes":[{"threads":[{"name":"u"}]}]})")
          .value();
  ASSERT_THAT(file.threads, SizeIs(2));
  EXPECT_THAT(file.threads[0].stacks, ElementsAre(0, -1));
  EXPECT_THAT(file.threads[0].tables.frames.func, ElementsAre(1));
}

TEST(WalkJson, RefusesWhatIsCutOrTooDeep) {
  for (const std::string_view text : {kTrace, kFirefox}) {
    for (std::size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(ReadChromeTrace(text.substr(0, size)));
      EXPECT_FALSE(ReadFirefoxFile(text.substr(0, size)));
    }
  }

  for (const std::string_view text : {kSpeedscope, kCpuProfile}) {
    for (std::size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(ReadSpeedscopeFile(text.substr(0, size)));
      EXPECT_FALSE(ReadCpuProfileFile(text.substr(0, size)));
    }
  }
  const std::string deep(100'000, '[');
  EXPECT_THAT(ReadCpuProfileFile(deep), FailsWith(ErrorCode::kUnsupported));
}

// Parts of another type than the format's are left out.
TEST(WalkJson, TellsOfASecondText) {
  const std::string joined = std::string(kSpeedscope) + "\n" + std::string(kSpeedscope);
  EXPECT_THAT(ReadSpeedscopeFile(joined),
              FailsWith(ErrorCode::kCorrupt,
                        fmt::format("at 0x{:x}: {}", kSpeedscope.size() + 1, kJoinedFiles)));
  EXPECT_THAT(
      ReadSpeedscopeFile(std::string(kSpeedscope) + "}"),
      FailsWith(ErrorCode::kCorrupt, fmt::format("at 0x{:x}: not JSON", kSpeedscope.size() + 1)));
}

TEST(WalkJson, SurvivesOtherTypes) {
  for (const std::string_view text :
       {"[]", "7", "null", R"({"nodes":7,"samples":{"*":1},"timeDeltas":"x"})",
        R"({"nodes":[7,[],"a",{"id":"x","children":7,"callFrame":[]}]})",
        R"({"profiles":[7,{"samples":[7,"a",{"*":1}],"events":[7,[{"at":1}]]}],"shared":7})",
        R"({"nodes":[{"id":1e300,"children":[18446744073709551615]}]})",
        R"({"profiles":[{"samples":[[-1,1e30]]}],"shared":{"frames":[7,{"line":1e300}]}})"}) {
    EXPECT_TRUE(ReadSpeedscopeFile(text)) << text;
    EXPECT_TRUE(ReadCpuProfileFile(text)) << text;
  }
}

}  // namespace
}  // namespace perftape::json_profiles
