// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "convert/bundle_check/bundle_check.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle_check {
namespace {

using bundle::BundledFile;
using bundle::FileKind;

constexpr std::string_view kId = "0123456789abcdef0123";
constexpr std::string_view kOtherId = "another-build-id-123";

std::vector<std::byte> Stripped(std::string_view build_id) {
  ElfBuilder elf;
  elf.AddSection(
      {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .address = 0x401000, .size = 0x100});
  elf.SetBuildId(build_id);
  return elf.Build();
}

class IsOnMachineTest : public testing::Test {
 protected:
  BundledFile File(FileKind kind = FileKind::kElf) {
    return {.path = dir_ / "tool", .kind = kind, .build_id = BuildId::From(AsBytes(kId))};
  }
  void Write(const std::vector<std::byte>& image) { dir_.Write("tool", AsText(image)); }

  TempDir dir_;
};

TEST_F(IsOnMachineTest, ByTheBuildIdAtTheRecordedPath) {
  EXPECT_FALSE(IsOnMachine(File(), SmallElf(kId)));
  Write(SmallElf(kOtherId));
  EXPECT_FALSE(IsOnMachine(File(), SmallElf(kId)));
  Write(SmallElf(kId));
  EXPECT_TRUE(IsOnMachine(File(), SmallElf(kId)));
  EXPECT_TRUE(IsOnMachine(File(FileKind::kDebug), SmallElf(kId)));
}

TEST_F(IsOnMachineTest, NotWhereItLacksTheSymbolsOfTheBundle) {
  Write(Stripped(kId));
  EXPECT_FALSE(IsOnMachine(File(), SmallElf(kId)));
  EXPECT_TRUE(IsOnMachine(File(), Stripped(kId)));
}

TEST_F(IsOnMachineTest, NotForOtherKinds) {
  Write(SmallElf(kId));
  EXPECT_FALSE(IsOnMachine(File(FileKind::kVdso), SmallElf(kId)));
  EXPECT_FALSE(IsOnMachine(File(FileKind::kPerfMap), SmallElf(kId)));
}

TEST_F(IsOnMachineTest, NotForPathsOfOtherRootsAndNoFile) {
  Write(SmallElf(kId));
  BundledFile relative = File();
  relative.path = "tool";
  EXPECT_FALSE(IsOnMachine(relative, SmallElf(kId)));
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  BundledFile pipe = File();
  pipe.path = dir_ / "pipe";
  EXPECT_FALSE(IsOnMachine(pipe, SmallElf(kId)));
}

}  // namespace
}  // namespace perftape::bundle_check
