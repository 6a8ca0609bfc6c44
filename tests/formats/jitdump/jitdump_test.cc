// SPDX-License-Identifier: Apache-2.0
#include "formats/jitdump/jitdump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/support/jitdump_builder.h"
#include "tests/support/matchers.h"

namespace perftape::jitdump {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

JitDump Open(const JitDumpBuilder& dump) {
  auto opened = JitDump::Read(dump.bytes());
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

// Returns "NAME at ADDRESS from TIME" of each function, in order.
std::vector<std::string> Shown(const JitDump& dump) {
  std::vector<std::string> all;
  for (const Placement& placement : dump.placements()) {
    const Function& function = dump.functions()[placement.function];
    all.push_back(std::string(function.name) + " at " + std::to_string(placement.start.value) +
                  " from " + std::to_string(placement.time));
  }
  return all;
}

TEST(JitDump, ReadsNameAddressAndTimeOfCode) {
  JitDumpBuilder builder;
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 1, .name = "first"});
  builder.AddLoad({.time = 30, .address = 1000, .size = 32, .index = 2, .name = "second"});
  const JitDump dump = Open(builder);
  EXPECT_THAT(Shown(dump), ElementsAre("first at 1000 from 20", "second at 1000 from 30"));
  EXPECT_EQ(dump.pid(), 7U);
  EXPECT_EQ(dump.damaged(), 0U);
  EXPECT_EQ(dump.cut_bytes(), 0U);
}

TEST(JitDump, OrdersByTimeWhatWasWrittenLater) {
  JitDumpBuilder builder;
  builder.AddLoad({.time = 30, .address = 1000, .size = 32, .index = 2, .name = "second"});
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 1, .name = "first"});
  EXPECT_THAT(Shown(Open(builder)), ElementsAre("first at 1000 from 20", "second at 1000 from 30"));
}

TEST(JitDump, FindsAFunctionByTheOffsetOfItsCode) {
  JitDumpBuilder builder;
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 1, .name = "first"});
  const std::size_t end = builder.bytes().size();
  builder.AddLoad({.time = 30, .address = 1000, .size = 32, .index = 2, .name = "second"});
  const JitDump dump = Open(builder);
  EXPECT_EQ(dump.Find({end - 64})->name, "first");
  EXPECT_EQ(dump.Find({end - 1})->name, "first");
  EXPECT_EQ(dump.Find({end}), nullptr);
  EXPECT_EQ(dump.Find({builder.bytes().size() - 1})->name, "second");
  EXPECT_EQ(dump.Find({0}), nullptr);
}

TEST(JitDump, FollowsCodeThatIsMoved) {
  JitDumpBuilder builder;
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 5, .name = "moved"});
  builder.AddMove(40, 5, 3000);
  const JitDump dump = Open(builder);
  EXPECT_THAT(Shown(dump), ElementsAre("moved at 1000 from 20", "moved at 3000 from 40"));
  EXPECT_THAT(dump.functions(), SizeIs(1));
}

TEST(JitDump, CountsAMoveOfWhatWasNeverLoaded) {
  JitDumpBuilder builder;
  builder.AddMove(40, 5, 3000);
  EXPECT_EQ(Open(builder).damaged(), 1U);
}

TEST(JitDump, FindsALineForEachAddress) {
  JitDumpBuilder builder;
  builder.AddLines(1000, {{1000, 3, 9, "/a.js"}, {1010, 4, 2, "\xff"}, {1020, 9, 0, "/b.js"}});
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 1, .name = "f"});
  builder.AddLoad({.time = 30, .address = 2000, .size = 64, .index = 2, .name = "without"});
  const JitDump dump = Open(builder);
  const Function& function = dump.functions()[0];
  const auto line_at = [&](std::uint64_t offset) {
    const CodeLine* line = dump.LineOf(function, {function.code.value + offset});
    return std::string(line->file) + ":" + std::to_string(line->line) + ":" +
           std::to_string(line->column);
  };
  EXPECT_EQ(line_at(0), "/a.js:3:9");
  EXPECT_EQ(line_at(19), "/a.js:4:2");
  EXPECT_EQ(line_at(63), "/b.js:9:0");
  EXPECT_EQ(dump.FileOf(function), "/a.js");
  EXPECT_EQ(dump.LineOf(dump.functions()[1], dump.functions()[1].code), nullptr);
}

TEST(JitDump, ReadsTheFramesOfTheNextFunction) {
  JitDumpBuilder builder;
  builder.AddFrames("frames of first");
  builder.AddLoad({.time = 20, .address = 1000, .size = 61, .index = 1, .name = "first"});
  builder.AddLoad({.time = 30, .address = 2000, .size = 64, .index = 2, .name = "without"});
  const JitDump dump = Open(builder);
  EXPECT_TRUE(dump.has_frames());
  EXPECT_EQ(AsText(dump.functions()[0].eh_frame), "frames of first");
  EXPECT_EQ(dump.functions()[0].AddressOfFrames(1000), 1064U);
  EXPECT_TRUE(dump.functions()[1].eh_frame.empty());
}

TEST(JitDump, IgnoresFramesOfAWrongSize) {
  JitDumpBuilder builder;
  builder.AddOther(4, 8);
  builder.AddFrames("frames", 20);
  std::vector<std::byte> bytes = builder.bytes();
  bytes[bytes.size() - 20 - 6 - 16] = std::byte{0xff};  // eh_frame_hdr_size
  const auto dump = JitDump::Read(bytes);
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->damaged(), 2U);
  EXPECT_FALSE(dump->has_frames());
}

TEST(JitDump, SubtractsTheElfHeaderFromV8sLineAddresses) {
  JitDumpBuilder builder({.padding = 0xdeadbeef});
  builder.AddLines(1000, {{1064, 3, 1, "/a.js"}, {1080, 4, 1, "/a.js"}});
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 1, .name = "f"});
  const JitDump dump = Open(builder);
  const Function& function = dump.functions()[0];
  EXPECT_EQ(dump.LineOf(function, function.code)->line, 3U);
  EXPECT_EQ(dump.LineOf(function, {function.code.value + 16})->line, 4U);
}

TEST(JitDump, DropsLinesOutsideOfTheirFunction) {
  JitDumpBuilder builder;
  builder.AddLines(1000, {{1000, 3, 1, "/a.js"}, {0x7fff00001000, 4, 1, "junk"}});
  builder.AddLoad({.time = 20, .address = 1000, .size = 64, .index = 1, .name = "f"});
  const JitDump dump = Open(builder);
  EXPECT_EQ(dump.functions()[0].line_count, 0U);
  EXPECT_EQ(dump.damaged(), 0U);
}

TEST(JitDump, SkipsRecordsOfOtherTypes) {
  JitDumpBuilder builder;
  builder.AddOther(3, 0);
  builder.AddOther(4, 24);
  builder.AddOther(99, 8);
  builder.AddLoad({.time = 20, .address = 1000, .size = 8, .index = 1, .name = "f"});
  const JitDump dump = Open(builder);
  EXPECT_THAT(dump.functions(), SizeIs(1));
  EXPECT_EQ(dump.damaged(), 0U);
}

TEST(JitDump, ReadsTheOtherByteOrder) {
  const std::endian other =
      std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
  JitDumpBuilder builder({.order = other});
  builder.AddLines(1000, {{1000, 3, 9, "/a.js"}});
  builder.AddLoad({.time = 20, .address = 1000, .size = 8, .index = 1, .name = "f"});
  const JitDump dump = Open(builder);
  EXPECT_THAT(Shown(dump), ElementsAre("f at 1000 from 20"));
  EXPECT_EQ(dump.FileOf(dump.functions()[0]), "/a.js");
}

TEST(JitDump, ReportsCpuTimestamps) {
  EXPECT_TRUE(Open(JitDumpBuilder({.flags = 1})).has_cpu_times());
  EXPECT_FALSE(Open(JitDumpBuilder()).has_cpu_times());
}

TEST(JitDump, IsReadUpToWhereItWasCut) {
  JitDumpBuilder builder;
  builder.AddLoad({.time = 20, .address = 1000, .size = 8, .index = 1, .name = "first"});
  const std::size_t first_end = builder.bytes().size();
  builder.AddLoad({.time = 30, .address = 2000, .size = 8, .index = 2, .name = "second"});
  for (std::size_t size = first_end; size < builder.bytes().size(); ++size) {
    const auto dump = JitDump::Read(Bytes(builder.bytes()).first(size));
    ASSERT_TRUE(dump);
    EXPECT_THAT(dump->functions(), SizeIs(1));
    EXPECT_EQ(dump->cut_bytes(), size - first_end);
  }
}

TEST(JitDump, IsNoneWithoutItsHeader) {
  const JitDumpBuilder builder;
  EXPECT_THAT(JitDump::Read({}), FailsWith(ErrorCode::kCorrupt));
  for (std::size_t size = 4; size < builder.bytes().size(); ++size) {
    EXPECT_THAT(JitDump::Read(Bytes(builder.bytes()).first(size)),
                FailsWith(ErrorCode::kTruncated));
  }
}

TEST(JitDump, CountsAFunctionThatIsLongerThanItsRecord) {
  JitDumpBuilder builder;
  builder.AddLoad({.time = 20, .address = 1000, .size = 8, .index = 1, .name = "f"});
  std::vector<std::byte> bytes = builder.bytes();
  bytes[40 + 16 + 24] = std::byte{9};  // code_size
  const auto dump = JitDump::Read(bytes);
  ASSERT_TRUE(dump);
  EXPECT_THAT(dump->functions(), SizeIs(0));
  EXPECT_EQ(dump->damaged(), 1U);
}

}  // namespace
}  // namespace perftape::jitdump
