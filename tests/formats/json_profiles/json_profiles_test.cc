// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/base/joined_files.h"
#include "formats/json_profiles/cpuprofile.h"
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

TEST(WalkJson, RefusesWhatIsCutOrTooDeep) {
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
