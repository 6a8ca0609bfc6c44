// SPDX-License-Identifier: Apache-2.0
#include "formats/script/header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::script {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Header Read(std::string_view text) {
  Header header;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    ReadComment(text.substr(0, end), header);
    text.remove_prefix(end + 1);
  }
  return header;
}

TEST(ReadComment, KeepsTheFactsOfPerfsHeader) {
  const Header header = Read(
      "# ========\n# captured on    : Mon Nov 23 07:26:22 2026\n# hostname : build7\n"
      "# os release : 6.1.0\n# perf version : 6.1.176\n# arch : x86_64\n"
      "# cmdline : /usr/bin/perf record : -a \n# event : name = cpu-clock, , id = { 7 }\n"
      "# hostname : build7\n# ========\n#\n");
  EXPECT_EQ(header.writer, Writer::kPerf);
  EXPECT_THAT(header.comments,
              ElementsAre("hostname: build7", "os release: 6.1.0", "perf version: 6.1.176",
                          "arch: x86_64", "command line: /usr/bin/perf record : -a"));
}

TEST(ReadComment, IgnoresOurLinesWithoutOurMark) {
  const Header header = Read("# perftape event : plain bytes e\n# perftape note : x\n");
  EXPECT_THAT(header.comments, IsEmpty());
  EXPECT_THAT(header.events, IsEmpty());
}

TEST(AppendHeader, IsReadAgain) {
  const Header written = {.writer = Writer::kPerftape,
                          .comments = {"hostname: build\n7", "anything else", "hostname:x"},
                          .events = {{.name = "my event", .unit = "", .is_plain = true},
                                     {.name = "cycles", .unit = "count"}}};
  std::string text;
  AppendHeader(text, written);
  EXPECT_TRUE(BeginsWithHeader(text));
  const Header header = Read(text);
  EXPECT_EQ(header.writer, Writer::kPerftape);
  EXPECT_EQ(header.comments, written.comments);
  ASSERT_EQ(header.events.size(), 2);
  EXPECT_EQ(header.events[0].name, "my event");
  EXPECT_EQ(header.events[0].unit, "");
  EXPECT_TRUE(header.events[0].is_plain);
  EXPECT_EQ(header.events[1].unit, "count");
  EXPECT_FALSE(header.events[1].is_plain);
}

TEST(BeginsWithHeader, NeedsTheWholeLine) {
  EXPECT_TRUE(BeginsWithHeader("# ========\r\n"));
  EXPECT_FALSE(BeginsWithHeader("# ========="));
  EXPECT_FALSE(BeginsWithHeader("# interval: 100\n"));
}

}  // namespace
}  // namespace perftape::script
