// SPDX-License-Identifier: Apache-2.0
#include "convert/foreign_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "tests/support/bytes_input.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using testing::HasSubstr;

std::string Describe(std::string_view text) {
  return DescribeForeign(BytesInput(AsBytes(text))).value_or("");
}

TEST(DescribeForeign, NamesPprofsOldTexts) {
  for (const std::string_view text :
       {"heap profile:      1:     16 [     1:      16] @ heap/1048576\n",
        "goroutine profile: total 7\n1 @ 0x1 0x2\n", "threadcreate profile: total 12\n",
        "--- contention:\ncycles/second=3201000000\n", "--- heapz 1 ---\n", "--- threadz 1 ---\n",
        "--- symbol\nbinary=/bin/app\n", "--- mutex:\n", "--- growthz 1 ---\n"}) {
    EXPECT_THAT(Describe(text), HasSubstr("go tool pprof -proto FILE > out.pb.gz")) << text;
  }
}

TEST(DescribeForeign, NamesPprofsOldBinaryProfiles) {
  const std::array<std::uint64_t, 8> words = {0, 3, 0, 10000, 0, 1, 1, 0x401000};
  EXPECT_THAT(DescribeForeign(BytesInput(AsBytes(
                  std::string_view(reinterpret_cast<const char*>(words.data()), sizeof words)))),
              testing::Optional(HasSubstr("go tool pprof")));
  const std::array<std::uint32_t, 8> halves = {0, 3, 0, 10000, 0, 1, 1, 0x401000};
  EXPECT_THAT(Describe({reinterpret_cast<const char*>(halves.data()), sizeof halves}),
              HasSubstr("go tool pprof"));
}

TEST(DescribeForeign, LeavesOtherTextsAlone) {
  for (const std::string_view text :
       {"main;f 1\n", "sh 7 1.000000: e:\n", "# interval: 100\nmain;f 1\n", "a 12 [001] 1.5: b 7\n",
        "profile: total 7\n", "heap;profile 7\n", "f (x) 7\n", " 12345.678901: 7\n", ""}) {
    EXPECT_EQ(Describe(text), "") << text;
  }
}

TEST(DescribeUnread, NamesAWayToConvert) {
  const auto describe = [](std::string_view text) {
    return DescribeUnread(BytesInput(AsBytes(text))).value_or("");
  };
  using namespace std::string_view_literals;
  EXPECT_THAT(describe("FLR\0\0\2"sv), HasSubstr("jfrconv"));
  EXPECT_THAT(describe("{\"traceEvents\":[]}"), HasSubstr("Chrome"));
  EXPECT_THAT(describe("PID 1 - process\nTID 1:\n#0  0x7f2ab1c0f7d4 f\n"), HasSubstr("eu-stack"));
  EXPECT_THAT(describe("gmon\1\0"sv), HasSubstr("gprof"));
  EXPECT_THAT(describe("\x04\x08{\x0c:\x0cversionf\x08"
                       "1.2:\tmode:\x08"
                       "cpu:\rintervali\x02"),
              HasSubstr("stackprof --stackcollapse"));
  EXPECT_THAT(describe("[11:16:33] Top 10 stacks with outstanding allocations:\n"
                       "\t80 bytes in 10 allocations from stack\n"),
              HasSubstr("memleak"));
  EXPECT_THAT(describe("memray\0\x0c"sv), HasSubstr("memray flamegraph"));
  EXPECT_THAT(describe("\x04\x22\x4d\x18\x64"), HasSubstr("lz4 -d"));
  EXPECT_THAT(describe("Version: 3.1.6\nFile format: 4\nTRACE START [2026-01-01 10:00:00]\n"),
              HasSubstr("stackcollapse-xdebug.php"));
  EXPECT_THAT(describe("{\"dhatFileVersion\":2\n,\"mode\":\"heap\""), HasSubstr("dh_view.html"));
  EXPECT_THAT(describe("0 sleep <internal>:-1\n1 <main> /srv/a.php:3\n\n"), HasSubstr("phpspy"));
  EXPECT_EQ(describe("0 apples\n1 pear\n"), "");
  EXPECT_EQ(describe("what is this\n"), "");
  EXPECT_EQ(describe(""), "");
}

// Packets with the user id of their writer (3), a clock snapshot (6) and a sequence (10).
TEST(DescribeUnread, KnowsPerfettoByItsPackets) {
  const auto describe = [](std::string_view text) {
    return DescribeUnread(BytesInput(AsBytes(text))).value_or("");
  };
  using namespace std::string_view_literals;
  const std::string_view trace =
      "\x0a\x07\x32\x02\x0a\x00\x18\xe8\x07\x0a\x05\x40\x01\x50\x01\x18"sv;
  EXPECT_THAT(describe(trace), HasSubstr("traceconv profile"));
  EXPECT_EQ(describe("\x0a\x04\x08\x01\x10\x02\x12\x04\x08\x01\x10\x02"sv), "");
  for (std::size_t size = 0; size < trace.size(); ++size) describe(trace.substr(0, size));
}

TEST(DescribeUnread, KnowsTracesOfWindows) {
  std::string trace(104, '\0');
  trace[2] = 1;  // buffers of 64 KiB
  trace[74] = 2;
  trace[75] = '\xc0';
  EXPECT_THAT(DescribeUnread(BytesInput(AsBytes(trace))).value_or(""), HasSubstr("ETW"));
}

TEST(DescribeForeign, DescribesOtherDirectories) {
  const TempDir directory;
  EXPECT_THAT(DescribeForeign(Input::Open(directory.path()).value()).value_or(""),
              HasSubstr("is a directory"));
  directory.Write("data", "PERFILE2");
  EXPECT_FALSE(DescribeForeign(Input::Open(directory.path()).value()));
}

}  // namespace
}  // namespace perftape::convert
