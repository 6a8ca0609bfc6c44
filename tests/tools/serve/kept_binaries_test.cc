// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/kept_binaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "formats/elf/debug_search_paths.h"
#include "formats/elf/elf_file.h"
#include "tests/support/files.h"

namespace perftape::serve {
namespace {

const BuildId kFirstId = BuildId::FromHex("aa01").value(),
              kSecondId = BuildId::FromHex("aa02").value(),
              kThirdId = BuildId::FromHex("aa03").value();

class KeptBinariesTest : public testing::Test {
 protected:
  UniqueFd Self() const { return UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)); }
  std::filesystem::path CopyOf(const BuildId& id) const {
    return elf::BuildIdLink(directory_ / "binaries", id);
  }
  bool IsKept(const BuildId& id) const { return std::filesystem::exists(CopyOf(id)); }

  TempDir directory_;
};

TEST_F(KeptBinariesTest, KeepsTheSymbolsOfAFileThatHasNoPath) {
  KeptBinaries binaries(directory_ / "binaries");
  ASSERT_TRUE(binaries.Add("/in/a/container", kFirstId, Self().get()));
  const Result<elf::ElfFile> copy = elf::ElfFile::Open(CopyOf(kFirstId));
  ASSERT_TRUE(copy);
  EXPECT_LT(std::filesystem::file_size(CopyOf(kFirstId)),
            std::filesystem::file_size("/proc/self/exe"));
}

TEST_F(KeptBinariesTest, KeepsNoFileThatIsAtItsPath) {
  KeptBinaries binaries(directory_ / "binaries");
  const std::string path = std::filesystem::read_symlink("/proc/self/exe");
  ASSERT_TRUE(binaries.Add(path, kFirstId, Self().get()));
  EXPECT_FALSE(IsKept(kFirstId));
}

TEST_F(KeptBinariesTest, RemovesWhatWasNotUsedForTheLongestTime) {
  KeptBinaries probe(directory_ / "binaries");
  ASSERT_TRUE(probe.Add("/x", kFirstId, Self().get()));
  const std::uint64_t size = std::filesystem::file_size(CopyOf(kFirstId));

  KeptBinaries binaries(directory_ / "binaries", 2 * size);
  ASSERT_TRUE(binaries.Add("/x", kFirstId, Self().get()));
  ASSERT_TRUE(binaries.Add("/x", kSecondId, Self().get()));
  binaries.Use(kFirstId);
  ASSERT_TRUE(binaries.Add("/x", kThirdId, Self().get()));
  EXPECT_TRUE(IsKept(kFirstId));
  EXPECT_FALSE(IsKept(kSecondId));
  EXPECT_TRUE(IsKept(kThirdId));
}

TEST_F(KeptBinariesTest, RefusesWhatIsTooLargeOrNoElfFile) {
  KeptBinaries binaries(directory_ / "binaries", 1000);
  EXPECT_FALSE(binaries.Add("/x", kFirstId, Self().get()));
  const auto text = directory_.Write("text", "no ELF");
  const UniqueFd file(open(text.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(binaries.Add("/y", kSecondId, file.get()));
  EXPECT_FALSE(IsKept(kFirstId) || IsKept(kSecondId));
}

}  // namespace
}  // namespace perftape::serve
