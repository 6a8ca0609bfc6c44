// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/elf/elf_file.h"
#include "tests/record/symbols/machine_dir.h"

namespace perftape::record {
namespace {

using testing::IsEmpty;
using testing::Not;

const BuildId kId = BuildId::From(AsBytes("0123456789abcdefghij"));
const BuildId kOtherId = BuildId::From(AsBytes("ABCDEFGHIJ0123456789"));

TEST(HitFiles, KeepAFileOpenThatIsDeletedLater) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  HitFiles files(8);
  files.Add("/bin/x", kId, machine.Open("x"));
  std::filesystem::remove(machine.dir / "x");
  ASSERT_EQ(files.binaries().size(), 1u);
  const auto mapped = MappedFile::FromFd(files.binaries()[0]->file.get(), "x");
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->bytes().size(), files.binaries()[0]->size);
}

TEST(HitFiles, KeepABuildOnceUnderWhateverPath) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  HitFiles files(8);
  files.Add("/bin/x", kId, machine.Open("x"));
  files.Add("/other/x", kId, machine.Open("x"));
  files.Add("/bin/x", kOtherId, machine.Open("x"));
  EXPECT_EQ(files.binaries().size(), 2u);
}

TEST(HitFiles, DistinguishFilesWithoutBuildIdByPath) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf(""));
  HitFiles files(8);
  files.Add("/bin/x", {}, machine.Open("x"));
  files.Add("/bin/x", {}, machine.Open("x"));
  files.Add("/bin/y", {}, machine.Open("x"));
  EXPECT_EQ(files.binaries().size(), 2u);
}

TEST(HitFiles, MakeSlimCopiesOfMoreFilesThanMayBeOpen) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  HitFiles files(1);
  files.Add("/bin/x", kId, machine.Open("x"));
  files.Add("/bin/y", kOtherId, machine.Open("x"));
  EXPECT_TRUE(files.binaries()[0]->file);
  EXPECT_FALSE(files.binaries()[1]->file);
  ASSERT_THAT(files.binaries()[1]->slim, Not(IsEmpty()));
  const auto image = elf::ElfFile::FromBytes(files.binaries()[1]->slim);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->build_id(), kId);
}

TEST(RoomForOpenFiles, IsThereInThisProcess) {
  EXPECT_GT(RoomForOpenFiles(), 0u);
}

TEST(HitFiles, AreSharedWithTheNextFileOnceTheyAreHitAgain) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  HitFiles first(8);
  first.Add("/bin/x", kId, machine.Open("x"));
  HitFiles second = first.NextFile();
  EXPECT_THAT(second.binaries(), IsEmpty());
  HitFiles third = second.NextFile();
  EXPECT_FALSE(third.AddAgain("/bin/y", kOtherId));
  EXPECT_TRUE(third.AddAgain("/bin/x", kId));
  EXPECT_TRUE(third.AddAgain("/bin/x", kId));
  ASSERT_EQ(third.binaries().size(), 1u);
  EXPECT_EQ(third.binaries()[0], first.binaries()[0]);
}

}  // namespace
}  // namespace perftape::record
