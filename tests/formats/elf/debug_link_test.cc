// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/debug_link.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/elf_builder.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;

class DebugLinkTest : public testing::Test {
 protected:
  const ElfFile& FileWith(std::string section, std::string contents) {
    ElfBuilder elf;
    elf.AddSection({.name = std::move(section), .contents = std::move(contents)});
    return file_.emplace(ElfFile::Owning(elf.Build()).value());
  }

 private:
  std::optional<ElfFile> file_;
};

TEST_F(DebugLinkTest, ReadsTheNameAndTheChecksum) {
  const auto link = ReadDebugLink(FileWith(".gnu_debuglink", "ls.debug\0\0\0\0\x78\x56\x34\x12"s));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->file_name, "ls.debug");
  EXPECT_EQ(link->crc, 0x12345678U);
}

TEST_F(DebugLinkTest, NeedsNoPaddingWhereTheNameFillsItsWords) {
  const auto link = ReadDebugLink(FileWith(".gnu_debuglink", "abc\0\1\0\0\0"s));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->file_name, "abc");
  EXPECT_EQ(link->crc, 1U);
}

TEST_F(DebugLinkTest, IsNoneWhereItIsAbsentOrDamaged) {
  EXPECT_FALSE(ReadDebugLink(FileWith(".other", "abc\0\1\0\0\0"s)));
  for (const std::string& contents : {""s, "abc"s, "\0\0\0\0\1\0\0\0"s, "abc\0\1\0\0"s}) {
    EXPECT_FALSE(ReadDebugLink(FileWith(".gnu_debuglink", contents)));
  }
}

TEST(DebugLinkCrc, IsThatOfZlib) {
  EXPECT_EQ(DebugLinkCrc(AsBytes("123456789")), 0xcbf43926U);
}

TEST_F(DebugLinkTest, ReadsTheDwzFileAndItsBuildId) {
  const auto link = ReadDebugAltLink(FileWith(".gnu_debugaltlink", "../.dwz/x.debug\0\xab\xcd"s));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->file_name, "../.dwz/x.debug");
  EXPECT_EQ(link->build_id.hex(), "abcd");
  EXPECT_FALSE(ReadDebugAltLink(FileWith(".gnu_debugaltlink", "no id\0"s)));
  EXPECT_FALSE(ReadDebugAltLink(FileWith(".gnu_debugaltlink", "no end"s)));
}

}  // namespace
}  // namespace perftape::elf
