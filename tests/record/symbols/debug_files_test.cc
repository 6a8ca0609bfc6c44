// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/debug_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "formats/elf/debug_link.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using namespace std::string_literals;
using testing::IsEmpty;

constexpr std::string_view kId = "0123456789abcdefghij", kOtherId = "ABCDEFGHIJ0123456789";
const std::string kPlace = ".build-id/30/3132333435363738396162636465666768696a.debug";
const std::string kOtherPlace = ".build-id/41/42434445464748494a30313233343536373839.debug";

std::vector<std::byte> ElfWith(std::string_view build_id, const std::string& section,
                               const std::string& contents) {
  ElfBuilder elf;
  elf.AddSection({.name = section, .contents = contents});
  if (!build_id.empty()) elf.SetBuildId(build_id);
  return elf.Build();
}

// Searches the debug files of a binary at /bin/x of the directory.
class DebugFiles : public testing::Test {
 protected:
  std::vector<std::string> Find(const std::vector<std::byte>& binary) {
    const auto file = elf::ElfFile::FromBytes(binary);
    if (!file) throw std::runtime_error(file.error().message);
    std::vector<std::string> paths;
    for (const auto& found : FindDebugFiles(*file, dir_ / "bin/x", {dir_ / "debug"}, files_)) {
      paths.push_back(std::filesystem::relative(found.path, dir_.path()).lexically_normal());
    }
    return paths;
  }

  TempDir dir_;
  OthersFiles files_;
};

TEST_F(DebugFiles, AreFoundByBuildId) {
  dir_.Write("debug/" + kPlace, SmallElf(kId));
  EXPECT_THAT(Find(SmallElf(kId)), testing::ElementsAre("debug/" + kPlace));
}

TEST_F(DebugFiles, AreRejectedIfBuildIdAndNameDiffer) {
  dir_.Write("debug/" + kPlace, SmallElf(kOtherId));
  EXPECT_THAT(Find(SmallElf(kId)), IsEmpty());
}

TEST_F(DebugFiles, AreFoundByLinkAndBuildId) {
  const std::string link = "x.debug\0ABCD"s;
  dir_.Write("bin/.debug/x.debug", SmallElf(kId));
  EXPECT_THAT(Find(ElfWith(kId, ".gnu_debuglink", link)),
              testing::ElementsAre("bin/.debug/x.debug"));
  EXPECT_THAT(Find(ElfWith(kOtherId, ".gnu_debuglink", link)), IsEmpty());
}

TEST_F(DebugFiles, AreFoundByLinkAndChecksumWhereThereIsNoBuildId) {
  const std::vector<std::byte> debug = SmallElf("");
  const std::uint32_t crc = elf::DebugLinkCrc(debug);
  std::string link = "x.debug\0...."s;
  std::memcpy(&link[8], &crc, sizeof crc);
  dir_.Write("bin/x.debug", debug);
  EXPECT_THAT(Find(ElfWith("", ".gnu_debuglink", link)), testing::ElementsAre("bin/x.debug"));
  ++link[8];
  EXPECT_THAT(Find(ElfWith("", ".gnu_debuglink", link)), IsEmpty());
}

TEST_F(DebugFiles, IncludeTheirDwzFile) {
  const std::string link = "../../.dwz/shared.debug\0"s + std::string(kOtherId);
  dir_.Write("debug/" + kPlace, ElfWith(kId, ".gnu_debugaltlink", link));
  EXPECT_THAT(Find(SmallElf(kId)), testing::ElementsAre("debug/" + kPlace));
  dir_.Write("debug/.dwz/shared.debug", SmallElf(kOtherId));
  EXPECT_THAT(Find(SmallElf(kId)),
              testing::ElementsAre("debug/" + kPlace, "debug/.dwz/shared.debug"));
}

TEST_F(DebugFiles, FindWhatIsSharedByItsBuildIdToo) {
  const std::string link = "/nowhere/shared.debug\0"s + std::string(kOtherId);
  dir_.Write("debug/" + kPlace, ElfWith(kId, ".gnu_debugaltlink", link));
  dir_.Write("debug/" + kOtherPlace, SmallElf(kOtherId));
  EXPECT_THAT(Find(SmallElf(kId)), testing::ElementsAre("debug/" + kPlace, "debug/" + kOtherPlace));
}

TEST_F(DebugFiles, AreNotOpenedWhereALinkLeadsElsewhere) {
  const std::string outside = dir_.Write("outside/shared.debug", SmallElf(kOtherId));
  const auto bytes = ElfWith(kId, ".gnu_debugaltlink", outside + "\0"s + std::string(kOtherId));
  const auto file = elf::ElfFile::FromBytes(bytes);
  ASSERT_TRUE(file);
  const auto found = FindDebugFiles(*file, dir_ / "bin/x", {dir_ / "debug"}, files_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].file);
  EXPECT_EQ(found[0].path, outside);
  EXPECT_EQ(found[0].refused, "outside the directories that are searched");
}

}  // namespace
}  // namespace perftape::record
