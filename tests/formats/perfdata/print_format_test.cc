// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/print_format.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

constexpr std::string_view kFields =
    "name: x\nID: 1\nformat:\n"
    "\tfield:char comm[16];\toffset:0;\tsize:16;\tsigned:0;\n"
    "\tfield:int pid;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:unsigned long state;\toffset:24;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned int args[2];\toffset:32;\tsize:8;\tsigned:0;\n";

struct Raw {
  char comm[16] = "ls";
  std::int32_t pid = -3;
  std::uint32_t padding = 0;
  std::uint64_t state = 5;
  std::uint32_t args[2] = {0x10, 0xff};
};

// Returns the text of a sample; "-" for a format that is not understood.
std::string TextOf(const std::string& print) {
  const auto format = ParseTracepointFormat(std::string(kFields) + "\nprint fmt: " + print + "\n");
  const auto parsed = PrintFormat::Parse(format->print_format);
  if (!parsed) return "-";
  const Raw raw;
  std::string text;
  parsed->Append(text, {*format, std::as_bytes(std::span(&raw, 1))});
  return text;
}

TEST(PrintFormat, PrintsFieldsAsPrintfDoes) {
  EXPECT_EQ(TextOf(R"("comm=%s pid=%d", REC->comm, REC->pid)"), "comm=ls pid=-3");
  EXPECT_EQ(
      TextOf(R"("%5d|%-5d|%05d|%x|%#lx|%%", REC->pid, REC->pid, REC->pid, REC->state, REC->state)"),
      "   -3|-3   |-0003|5|0x5|%");
  EXPECT_EQ(TextOf(R"("%u %llu %c", REC->pid, REC->state, 65)"), "4294967293 5 A");
  EXPECT_EQ(TextOf(R"("%*d %.*s", 4, 7, 1, REC->comm)"), "   7 l");
  EXPECT_EQ(TextOf(R"("%p %p", REC->state, 0)"), "0x5 (nil)");
}

TEST(PrintFormat, EvaluatesExpressions) {
  EXPECT_EQ(TextOf(R"("%d", 1 + 2 * 3 - (4 << 1))"), "-1");
  EXPECT_EQ(TextOf(R"("%d %d", REC->pid < 0 && REC->state == 5, !REC->pid)"), "1 0");
  EXPECT_EQ(TextOf(R"("%s", REC->pid < 0 ? "low" : "high")"), "low");
  EXPECT_EQ(TextOf(R"("%x %x", REC->args[0], REC->args[1])"), "10 ff");
  EXPECT_EQ(TextOf(R"("%x", REC->args[7])"), "0");
  EXPECT_EQ(TextOf(R"("%d", (unsigned char)REC->pid)"), "253");
  EXPECT_EQ(TextOf(R"("%lu", (unsigned long long)(REC->state))"), "5");
  EXPECT_EQ(TextOf(R"("%d %d", 1 / 0, 1 << 99)"), "0 0");
}

TEST(PrintFormat, NamesFlagsAndSymbols) {
  const std::string flags = R"({ 0x1, "S" }, { 1 << 1, "D" }, { 0x4, "T" })";
  EXPECT_EQ(TextOf(R"("%s", __print_flags(REC->state, "|", )" + flags + ")"), "S|T");
  EXPECT_EQ(TextOf(R"("%s", __print_flags(9, "|", )" + flags + ")"), "S|0x8");
  EXPECT_EQ(TextOf(R"("%s", __print_symbolic(REC->state, { 5, "five" }))"), "five");
  EXPECT_EQ(TextOf(R"("%s", __print_symbolic(6, { 5, "five" }))"), "0x6");
  EXPECT_EQ(TextOf(R"("%s", __print_array(REC->args, 2, 4))"), "{0x10,0xff}");
}

TEST(PrintFormat, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(TextOf(R"("%s", unknown_function(REC->pid))"), "-");
  EXPECT_EQ(TextOf(R"("%pI4", REC->comm)"), "-");
  EXPECT_EQ(TextOf(R"("%d)"), "-");
  EXPECT_EQ(TextOf(R"("%d")"), "-");
  EXPECT_EQ(TextOf("\"%d\", " + std::string(5000, '(') + "1" + std::string(5000, ')')), "-");
  EXPECT_EQ(TextOf(""), "-");
}

TEST(PrintFormat, LimitsWidths) {
  EXPECT_EQ(TextOf(R"("%999999999999d", 1)").size(), 1024U);
}

}  // namespace
}  // namespace perftape::perfdata
