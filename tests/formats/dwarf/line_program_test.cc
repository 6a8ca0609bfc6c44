// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/line_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace perftape::dwarf {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Extent kCode = {0x1000, 0x2000};

// Returns a header whose special opcodes advance by one address and by -1 to 2 lines.
LineHeader HeaderFor(std::string_view program) {
  LineHeader header;
  header.version = 4;
  header.line_base = -1;
  header.line_range = 4;
  header.opcode_base = 13;
  header.operand_counts = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  header.end = program.size();
  return header;
}

std::string SetAddress(std::uint8_t low) {
  return std::string("\x00\x09\x02", 3) + std::string(1, static_cast<char>(low)) +
         std::string("\x10\0\0\0\0\0\0", 7);
}
const std::string kCopy = "\x01";
const std::string kNextLine = "\x13";  // 13 + 1 * 4 + 2: the next address, the next line
const std::string kEnd = std::string("\x02\x08\x00\x01\x01", 5);  // 8 bytes further, then the end

LineTable TableOf(const std::string& program) {
  Sections sections;
  sections.line = AsBytes(std::string_view(program));
  return RunLineProgram(HeaderFor(program), sections, {&kCode, 1});
}

TEST(RunLineProgram, MakesARowOfEachAddress) {
  const LineTable table = TableOf(SetAddress(0x20) + kCopy + kNextLine + kEnd);
  ASSERT_THAT(table.sequences, SizeIs(1));
  EXPECT_EQ(table.sequences[0].start, 0x1020U);
  EXPECT_EQ(table.sequences[0].end, 0x1029U);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].line, 1U);
  EXPECT_EQ(table.rows[1].offset, 1U);
  EXPECT_EQ(table.rows[1].line, 2U);
}

TEST(RunLineProgram, KeepsTheLastRowOfAnAddress) {
  const LineTable table = TableOf(SetAddress(0x20) + kCopy + "\x03\x05" + kCopy + kEnd);
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_EQ(table.rows[0].line, 6U);
}

TEST(RunLineProgram, LeavesOutWhatTheLinkerDropped) {
  const std::string dropped("\x00\x09\x02\0\0\0\0\0\0\0\0", 11);
  EXPECT_THAT(TableOf(dropped + kCopy + kNextLine + kEnd).sequences, IsEmpty());
  EXPECT_THAT(TableOf(dropped + kCopy + kNextLine + kEnd).rows, IsEmpty());
}

TEST(RunLineProgram, ForgetsASequenceThatIsCutAtAnyByte) {
  const std::string whole = SetAddress(0x20) + kCopy + kNextLine + kEnd;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(TableOf(whole.substr(0, size)).sequences, IsEmpty()) << size;
  }
}

TEST(LineHeader, JoinsPathsUpToWhereTheyAreAbsolute) {
  LineHeader header;
  header.version = 4;
  header.directories = {"include", "/usr/include"};
  header.files = {{"tape.cc", 0}, {"tape.h", 1}, {"stdio.h", 2}, {"/abs.h", 1}};
  EXPECT_EQ(header.Path(1, "/src"), "/src/tape.cc");
  EXPECT_EQ(header.Path(2, "/src"), "/src/include/tape.h");
  EXPECT_EQ(header.Path(3, "/src"), "/usr/include/stdio.h");
  EXPECT_EQ(header.Path(4, "/src"), "/abs.h");
  EXPECT_EQ(header.Path(0, "/src"), "");
  EXPECT_EQ(header.Path(5, "/src"), "");
}

}  // namespace
}  // namespace perftape::dwarf
