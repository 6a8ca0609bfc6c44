// SPDX-License-Identifier: Apache-2.0
#include "record/events/tracepoint_format.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

// Parts of sched_process_exec, with a field of each form.
constexpr std::string_view kFormat =
    "name: sched_process_exec\n"
    "ID: 365\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
    "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
    "\tfield:__rel_loc char[] args;\toffset:32;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * text;\toffset:40;\tsize:8;\tsigned:0;\n"
    "\n"
    "print fmt: \"field:int no_field; offset:90; size:4; signed:1;\", REC->pid\n";

TEST(ParseTracepointFormat, ReadsTheFields) {
  const TracepointFormat format = ParseTracepointFormat(kFormat).value();
  EXPECT_EQ(format.id, 365);
  EXPECT_EQ(format.fixed_size(), 48);
  ASSERT_NE(format.Find("pid"), nullptr);
  EXPECT_EQ(format.Find("pid")->offset, 12);
  EXPECT_TRUE(format.Find("pid")->is_signed);
  EXPECT_TRUE(format.Find("pid")->is_integer());
  EXPECT_TRUE(format.Find("text")->is_integer());
  EXPECT_FALSE(format.Find("comm")->is_integer());
  EXPECT_FALSE(format.Find("filename")->is_integer());
  EXPECT_EQ(format.Find("no_field"), nullptr);
}

TEST(ParseTracepointFormat, FindsTheLastFieldOfVariableLength) {
  const TracepointFormat format = ParseTracepointFormat(kFormat).value();
  ASSERT_NE(format.last_location(), nullptr);
  EXPECT_EQ(format.last_location()->name, "args");
  EXPECT_TRUE(format.last_location()->is_relative_location);
}

TEST(ParseTracepointFormat, RefusesATextWithoutIdOrFields) {
  EXPECT_THAT(ParseTracepointFormat(""), FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(ParseTracepointFormat("ID: 7\n"), FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(ParseTracepointFormat(kFormat.substr(kFormat.find("format:"))),
              FailsWith(ErrorCode::kCorrupt));
}

TEST(ParseTracepointFormat, PassesOverFieldsBeyondTheLargestRecord) {
  const TracepointFormat format = ParseTracepointFormat(
                                      "ID: 1\n\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
                                      "\tfield:int b;\toffset:8190;\tsize:4;\tsigned:1;\n"
                                      "\tfield:int c;\toffset:99999;\tsize:4;\tsigned:1;\n")
                                      .value();
  EXPECT_EQ(format.fields.size(), 1U);
}

TEST(ParseTracepointFormat, ReadsWhatIsCutAnywhere) {
  for (std::size_t size = 0; size < kFormat.size(); ++size) {
    (void)ParseTracepointFormat(kFormat.substr(0, size));
  }
}

}  // namespace
}  // namespace perftape::record
