// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/tracepoints.h"

#include <gmock/gmock.h>

#include "tests/support/tracing_data.h"

namespace perftape::perfdata {
namespace {

using Content = TracepointField::Content;
using Storage = TracepointField::Storage;
using testing::ElementsAre;
using testing::IsEmpty;

// The only field of a format.
TracepointField FieldOf(std::string_view line, const TracingMachine& machine = {}) {
  const auto format =
      ParseTracepointFormat("name: x\nID: 1\nformat:\n\t" + std::string(line) + "\n", machine);
  if (!format || format->fields.size() != 1) return {.name = "no field"};
  return format->fields.front();
}

std::string Shown(std::string_view line, std::string_view raw,
                  std::endian order = std::endian::little) {
  const auto value = ValueOf(FieldOf(line, {.order = order}), AsBytes(raw), order);
  return value ? TextOf(*value) : "nothing";
}

using namespace std::string_view_literals;

TEST(TracepointFormat, HasTheNameTheIdAndTheFieldsOfAFile) {
  const auto format = ParseTracepointFormat(kWakeFormat);
  ASSERT_TRUE(format);
  EXPECT_EQ(format->name, "wake");
  EXPECT_EQ(format->id, 77U);
  std::vector<std::string> names;
  for (const TracepointField& field : format->fields) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("common_type", "name", "pid", "reason", "skaddr", "ports"));
  EXPECT_TRUE(format->fields[0].is_common());
  EXPECT_FALSE(format->fields[1].is_common());
  ASSERT_NE(format->Find("pid"), nullptr);
  EXPECT_EQ(format->Find("pid")->offset, 8U);
  EXPECT_EQ(format->Find("pi"), nullptr);
}

TEST(TracepointFormat, HasTheSizeOfItsFieldsAndTheLastLocation) {
  const auto format = ParseTracepointFormat(
      "name: x\nID: 1\n"
      "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
      "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
      "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
      "\tfield:__rel_loc char[] args;\toffset:32;\tsize:4;\tsigned:0;\n"
      "\tfield:const char * text;\toffset:40;\tsize:8;\tsigned:0;\n");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->fixed_size(), 48U);
  ASSERT_NE(format->last_location(), nullptr);
  EXPECT_EQ(format->last_location()->name, "args");
  EXPECT_TRUE(format->Find("pid")->is_integer());
  EXPECT_TRUE(format->Find("text")->is_integer());
  EXPECT_FALSE(format->Find("comm")->is_integer());
  EXPECT_FALSE(format->Find("filename")->is_integer());
}

TEST(TracepointFormat, NeedsANameAndAnId) {
  EXPECT_FALSE(ParseTracepointFormat("ID: 1\n"));
  EXPECT_FALSE(ParseTracepointFormat("name: x\n"));
  EXPECT_FALSE(ParseTracepointFormat("name: x\nID: 1x\n"));
  EXPECT_FALSE(ParseTracepointFormat(""));
}

TEST(TracepointFormat, EndsAtPrintFmt) {
  const auto format = ParseTracepointFormat(
      "name: x\nID: 1\nprint fmt: \"\"\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n");
  ASSERT_TRUE(format);
  EXPECT_THAT(format->fields, IsEmpty());
}

TEST(TracepointFormat, LeavesOutLinesThatAreNoField) {
  for (const std::string_view line :
       {"field:int a;", "field:int a;\toffset:0;", "field:a;\toffset:0;\tsize:4;",
        "field:;offset:0;size:4;", "field:int a;offset:-1;size:4;", "field:int a;offset:0;size:x;",
        "field:int a;offset:99999999999;size:4;", "field",
        "field:", "field:int [4];offset:0;size:4;", "field: *;offset:0;size:4;",
        "field:[];offset:0;size:4;", "field:];offset:0;size:4;"}) {
    EXPECT_EQ(FieldOf(line).name, "no field") << line;
  }
}

TEST(TracepointField, FollowsTheTypeOfItsDeclaration) {
  EXPECT_EQ(FieldOf("field:int a;offset:0;size:4;signed:1;").content, Content::kSigned);
  EXPECT_EQ(FieldOf("field:int a;offset:0;size:4;").content, Content::kUnsigned);
  EXPECT_EQ(FieldOf("field:unsigned long a;offset:0;size:8;signed:0;").content, Content::kHex);
  EXPECT_EQ(FieldOf("field:long a;offset:0;size:8;signed:1;").content, Content::kSigned);
  EXPECT_EQ(FieldOf("field:const char * a;offset:0;size:8;signed:0;").content, Content::kHex);
  EXPECT_EQ(FieldOf("field:char *a;offset:0;size:8;signed:0;").name, "a");
  EXPECT_EQ(FieldOf("field:char a[16];offset:0;size:16;signed:0;").content, Content::kText);
  EXPECT_EQ(FieldOf("field:u8 a[4];offset:0;size:4;signed:0;").content, Content::kArray);
  EXPECT_EQ(FieldOf("field:struct big a;offset:0;size:24;signed:0;").content, Content::kArray);
}

TEST(TracepointField, KnowsWhereADynamicArrayIs) {
  const TracepointField data = FieldOf("field:__data_loc char[] a;offset:8;size:4;signed:0;");
  EXPECT_EQ(data.storage, Storage::kDataLocation);
  EXPECT_EQ(data.content, Content::kText);
  const TracepointField relative = FieldOf("field:__rel_loc u64[] a;offset:8;size:4;signed:0;");
  EXPECT_EQ(relative.storage, Storage::kRelativeLocation);
  EXPECT_EQ(relative.content, Content::kArray);
  EXPECT_EQ(relative.element_size, 8);
}

TEST(TracepointField, KnowsTheSizeOfItsElements) {
  EXPECT_EQ(FieldOf("field:foo_t a[3];offset:0;size:12;").element_size, 4);
  EXPECT_EQ(FieldOf("field:foo_t a[3];offset:0;size:13;").element_size, 1);
  EXPECT_EQ(FieldOf("field:foo_t a[0];offset:0;size:8;").element_size, 1);
  EXPECT_EQ(FieldOf("field:foo_t a[COUNT];offset:0;size:8;").element_size, 1);
  EXPECT_EQ(FieldOf("field:u16 a[COUNT];offset:0;size:8;").element_size, 2);
  EXPECT_EQ(FieldOf("field:__data_loc long[] a;offset:0;size:4;", {.long_size = 4}).element_size,
            4);
  EXPECT_EQ(FieldOf("field:__data_loc long[] a;offset:0;size:4;", {.long_size = 77}).element_size,
            1);
}

TEST(FieldValue, IsShownAsPerfShowsIt) {
  EXPECT_EQ(Shown("field:int a;offset:0;size:4;signed:1;", "\xfe\xff\xff\xff"sv), "-2");
  EXPECT_EQ(Shown("field:s8 a;offset:1;size:1;signed:1;", "\x00\x80"sv), "-128");
  EXPECT_EQ(Shown("field:u16 a;offset:0;size:2;signed:0;", "\xfe\xff"sv), "65534");
  EXPECT_EQ(Shown("field:s64 a;offset:0;size:8;signed:1;", "\0\0\0\0\0\0\0\x80"sv),
            "-9223372036854775808");
  EXPECT_EQ(Shown("field:void * a;offset:0;size:8;", "\x10\0\0\0\0\0\0\xff"sv),
            "0xff00000000000010");
  EXPECT_EQ(Shown("field:char a[4];offset:0;size:4;", "ab\0d"sv), "ab");
  EXPECT_EQ(Shown("field:char a[4];offset:0;size:4;", "abcd"sv), "abcd");
  EXPECT_EQ(Shown("field:u8 a[3];offset:0;size:3;", "\x7f\0\x01"sv), "{0x7f,0x0,0x1}");
  EXPECT_EQ(Shown("field:u16 a[2];offset:0;size:4;", "\x7f\0\x01\x02"sv), "{0x7f,0x201}");
  EXPECT_EQ(Shown("field:__data_loc char[] a;offset:0;size:4;", "\x04\0\x03\0hi\0"sv), "hi");
  EXPECT_EQ(Shown("field:__rel_loc char[] a;offset:0;size:4;", "\x01\0\x03\0.hi\0"sv), "hi");
}

TEST(FieldValue, HasTheByteOrderOfTheRecordingMachine) {
  EXPECT_EQ(Shown("field:int a;offset:0;size:4;signed:1;", "\0\0\0\x02"sv, std::endian::big), "2");
  EXPECT_EQ(Shown("field:__data_loc u16[] a;offset:0;size:4;", "\0\x04\0\x04\0\x01\0\x02"sv,
                  std::endian::big),
            "{0x1,0x2}");
}

TEST(FieldValue, IsNothingOutsideTheRawData) {
  constexpr std::string_view kRaw = "\x04\0\x04\0abcd"sv;
  for (const std::string_view line :
       {"field:int a;offset:5;size:4;", "field:int a;offset:4294967295;size:4;",
        "field:char a[9];offset:0;size:9;", "field:char a[4];offset:8;size:1;",
        "field:char a[];offset:0;size:4294967295;", "field:u64 a;offset:1;size:8;",
        "field:__data_loc char[] a;offset:6;size:4;", "field:__data_loc char[] a;offset:4;size:4;",
        "field:__data_loc char[] a;offset:0;size:3;",
        "field:__rel_loc char[] a;offset:0;size:4;"}) {
    EXPECT_EQ(Shown(line, kRaw), "nothing") << line;
  }
  EXPECT_EQ(Shown("field:__data_loc char[] a;offset:0;size:4;", kRaw), "abcd");
  EXPECT_EQ(Shown("field:int a;offset:0;size:4;", ""), "nothing");
}

TEST(FieldValue, MayBeEmpty) {
  EXPECT_EQ(Shown("field:char a[];offset:2;size:0;", "ab"sv), "");
  EXPECT_EQ(Shown("field:struct x a;offset:0;size:0;", ""), "{}");
  EXPECT_EQ(Shown("field:__data_loc u8[] a;offset:0;size:4;", "\0\0\0\0"sv), "{}");
}

TEST(ReadTracepoints, FindsThemByIdInEitherByteOrder) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const auto tracepoints = ReadTracepoints(TracingDataOf({{"sched", {kWakeFormat}}}, order));
    ASSERT_TRUE(tracepoints.contains(77));
    EXPECT_EQ(tracepoints.at(77)->name, "sched:wake");
    EXPECT_EQ(tracepoints.at(77)->order, order);
  }
}

TEST(ReadTracepoints, HasThoseBeforeTheDamage) {
  const std::vector<std::byte> section =
      TracingDataOf({{"sched", {kWakeFormat, "name: no id\n", "name: x\nID: 78\n"}}});
  EXPECT_EQ(ReadTracepoints(section).size(), 2U);
  std::size_t most = 0;
  for (std::size_t size = 0; size < section.size(); ++size) {
    const std::size_t found = ReadTracepoints(Bytes(section).first(size)).size();
    EXPECT_GE(found, most);
    most = found;
  }
  EXPECT_EQ(most, 2U);
}

TEST(ReadTracepoints, ReadsNothingOfAnythingElse) {
  EXPECT_THAT(ReadTracepoints(AsBytes("\x17\x08\x44trading0.6\0"sv)), IsEmpty());
  EXPECT_THAT(ReadTracepoints({}), IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata
