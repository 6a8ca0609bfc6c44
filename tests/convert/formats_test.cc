// SPDX-License-Identifier: Apache-2.0
#include "convert/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/bytes_input.h"

namespace perftape::convert {
namespace {

TEST(Formats, HaveNamesAndEndingsOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> endings;
  for (const Format& format : AllFormats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(format.read != nullptr || format.write != nullptr) << format.name;
    EXPECT_EQ(format.read == nullptr, format.matches == nullptr) << format.name;
    for (const std::string_view ending : format.endings) {
      EXPECT_TRUE(endings.insert(ending).second) << ending;
    }
  }
}

TEST(Formats, AreDetectedByTheirFirstBytes) {
  const Format* format = DetectFormat(BytesInput(AsBytes("PERFILE2\x68")));
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "perf.data");
  format = DetectFormat(BytesInput(AsBytes("main;f 1\n")));
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "folded");
  // Some lines look like folded stacks.
  format = DetectFormat(BytesInput(AsBytes("   sh 7 [000] 1.000000: 12 e: a;b 1\n")));
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "perf-script");
  EXPECT_EQ(DetectFormat(BytesInput(AsBytes("main;f\n"))), nullptr);
  EXPECT_EQ(DetectFormat(BytesInput(Bytes())), nullptr);
}

TEST(Formats, AreDetectedBehindComments) {
  const Format* format = DetectFormat(BytesInput(AsBytes("# interval: 100\nmain;f 1\n")));
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "folded");
  EXPECT_EQ(DetectFormat(BytesInput(AsBytes("# interval: 100\n"))), nullptr);
}

TEST(Formats, AreFoundByName) {
  ASSERT_NE(FindFormat("pprof"), nullptr);
  EXPECT_EQ(FindFormat("pprof")->name, "pprof");
  EXPECT_EQ(FindFormat("gif"), nullptr);
}

TEST(Formats, AreChosenByTheFileName) {
  const auto name_of = [](std::string_view path) {
    const Format* format = FormatByFileName(path);
    return format == nullptr ? "none" : format->name;
  };
  EXPECT_EQ(name_of("/tmp/out.folded"), "folded");
  EXPECT_EQ(name_of("out.collapsed"), "folded");
  EXPECT_EQ(name_of("out.pb.gz"), "pprof");
  EXPECT_EQ(name_of("out.pb"), "pprof");
  EXPECT_EQ(name_of("out.pprof"), "pprof");
  EXPECT_EQ(name_of("perf.data"), "perf.data");
  EXPECT_EQ(name_of("out.html"), "html");
  EXPECT_EQ(name_of("out.svg"), "svg");
  EXPECT_EQ(name_of("out.speedscope.json"), "speedscope");
  EXPECT_EQ(name_of("out.perf-script.txt"), "perf-script");
  EXPECT_EQ(name_of("out.perf-script"), "perf-script");
  EXPECT_EQ(name_of("out.linux-perf.txt"), "perf-script");
  EXPECT_EQ(name_of("out.txt"), "none");
  EXPECT_EQ(name_of("out.callgrind"), "callgrind");
  EXPECT_EQ(name_of("/tmp/callgrind.out.1234"), "callgrind");
  EXPECT_EQ(name_of("callgrind.out.data"), "callgrind");
  EXPECT_EQ(name_of("callgrind.out.1/perf.data"), "perf.data");
  EXPECT_EQ(name_of("out.firefox.json"), "firefox");
  EXPECT_EQ(name_of("out.firefox.json.gz"), "firefox");
  EXPECT_EQ(name_of("out.gz"), "none");
  EXPECT_EQ(name_of("out.json"), "none");
  EXPECT_EQ(name_of("pprof"), "none");
}

}  // namespace
}  // namespace perftape::convert
