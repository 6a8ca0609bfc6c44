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

TEST(HitFiles, DistinguishFilesOfOnePathWithoutBuildIdByTheirNumber) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf(""));
  const FileNumber first{.device = 1, .inode = 2}, second{.device = 1, .inode = 3};
  HitFiles files(8);
  files.Add("/bin/x", {}, machine.Open("x"), first);
  files.Add("/bin/x", {}, machine.Open("x"), second);
  files.Add("/bin/x", {}, machine.Open("x"), first);
  ASSERT_EQ(files.binaries().size(), 2u);
  EXPECT_EQ(files.binaries()[1]->number, second);
  HitFiles next = files.NextFile();
  EXPECT_FALSE(next.AddAgain("/bin/x", {}, {.device = 1, .inode = 4}));
  EXPECT_TRUE(next.AddAgain("/bin/x", {}, second));
  EXPECT_EQ(next.binaries()[0], files.binaries()[1]);
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

TEST(HitFiles, AreClosedOnceManyFilesHadNoHit) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  HitFiles files(8);
  files.Add("/bin/x", kId, machine.Open("x"));
  const std::weak_ptr<HitBinary> binary = files.binaries().front();
  for (unsigned i = 0; i < kMostFilesWithoutHit; ++i) files = files.NextFile();
  EXPECT_TRUE(files.AddAgain("/bin/x", kId)) << "a hit starts anew";
  for (unsigned i = 0; i < kMostFilesWithoutHit; ++i) files = files.NextFile();
  EXPECT_FALSE(binary.expired());
  files = files.NextFile();
  EXPECT_TRUE(binary.expired());
  EXPECT_FALSE(files.AddAgain("/bin/x", kId));
}

TEST(HitFiles, ArePooledAsLongAsOneOwnerHasThem) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  const auto pool = std::make_shared<HitPool>();
  auto first = std::make_unique<HitFiles>(8, pool);
  first->Add("/bin/x", kId, machine.Open("x"));
  HitFiles second(8, pool);
  EXPECT_FALSE(second.AddAgain("/bin/y", kOtherId));
  EXPECT_TRUE(second.AddAgain("/bin/x", kId));
  EXPECT_EQ(second.binaries()[0], first->binaries()[0]);
  first.reset();
  EXPECT_EQ(pool->CountKept().open, 1u);
  second = HitFiles(8, pool);
  EXPECT_EQ(pool->CountKept().open, 0u);
  EXPECT_FALSE(second.AddAgain("/bin/x", kId));
}

TEST(HitFiles, ShareTheLimitOfTheirPool) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  const auto pool = std::make_shared<HitPool>();
  HitFiles first(1, pool), second(1, pool);
  first.Add("/bin/x", kId, machine.Open("x"));
  second.Add("/bin/y", kOtherId, machine.Open("x"));
  EXPECT_FALSE(second.binaries()[0]->file);
  EXPECT_THAT(second.binaries()[0]->slim, Not(IsEmpty()));
}

TEST(HitFiles, AddWhatOthersHaveOnce) {
  MachineDir machine;
  machine.dir.Write("x", SmallElf("0123456789abcdefghij"));
  HitFiles first(8), second(8), sum(8);
  first.Add("/bin/x", kId, machine.Open("x"));
  second.AddMissing(bundle::FileKind::kElf, "/bin/y", {}, "gone");
  second.AddKernel();
  for (int i = 0; i < 2; ++i) {
    sum.AddAllOf(first);
    sum.AddAllOf(second);
  }
  EXPECT_EQ(sum.binaries().size(), 2u);
  EXPECT_TRUE(sum.has_kernel());
  EXPECT_FALSE(sum.has_vdso());
}

}  // namespace
}  // namespace perftape::record
