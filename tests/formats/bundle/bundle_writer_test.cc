// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/bundle_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "formats/bundle/bundle.h"
#include "formats/bundle/marker.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Field;
using testing::Optional;

const BuildId kId = *BuildId::FromHex("0123456789abcdef0123456789abcdef01234567");
constexpr std::string_view kDirectory = "usr/bin/ls/0123456789abcdef0123456789abcdef01234567";

class BundleWriterTest : public testing::Test {
 protected:
  BundleWriter Create(std::string_view name = "bundle") {
    UniqueFd fd(::open((dir_ / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return *BundleWriter::Create(std::move(fd), 3);
  }
  std::string Written(std::string_view name = "bundle") { return *ReadWholeFile(dir_ / name); }

  TempDir dir_;
};

TEST_F(BundleWriterTest, WritesAFileItsMarkerItsLinkAndTheManifest) {
  BundleWriter writer = Create();
  ASSERT_THAT(
      writer.Add({.path = "/usr/bin/ls", .build_id = kId, .kept = Kept::kSymbols, .size = 9},
                 AsBytes("content")),
      IsOk());
  const auto size = std::move(writer).Finish({.host = "here"});
  ASSERT_THAT(size, Holds(Eq(Written().size())));

  const auto bundle = Bundle::Open(dir_ / "bundle");
  ASSERT_THAT(bundle, IsOk());
  EXPECT_THAT(bundle->members(),
              ElementsAre(Field(&UnpackedMember::name, std::string(kDirectory) + "/elf"),
                          Field(&UnpackedMember::name, std::string(kDirectory) + "/elf.perftape"),
                          Field(&UnpackedMember::target, "../../" + std::string(kDirectory)),
                          Field(&UnpackedMember::name, "manifest.json")));
  EXPECT_EQ(SizeInMarker(AsText(*bundle->Find(std::string(kDirectory) + "/elf.perftape"))), 7);
  EXPECT_EQ(bundle->manifest().host, "here");
  ASSERT_EQ(bundle->manifest().files.size(), 1);
  EXPECT_EQ(bundle->manifest().files[0].member, std::string(kDirectory) + "/elf");
  EXPECT_EQ(bundle->manifest().files[0].size, 9);
  EXPECT_EQ(AsText(*bundle->Find(kId, FileKind::kElf)), "content");
}

TEST_F(BundleWriterTest, AddsABuildIdAndKindOnce) {
  BundleWriter writer = Create();
  ASSERT_THAT(writer.Add({.path = "/usr/bin/ls", .build_id = kId}, AsBytes("first")), IsOk());
  ASSERT_THAT(writer.Add({.path = "/bin/ls", .build_id = kId}, AsBytes("second")), IsOk());
  ASSERT_THAT(writer.Add({.path = "/usr/bin/ls", .kind = FileKind::kDebug, .build_id = kId},
                         AsBytes("dwarf")),
              IsOk());
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());

  const auto bundle = Bundle::Open(dir_ / "bundle");
  ASSERT_THAT(bundle, IsOk());
  EXPECT_EQ(bundle->manifest().files.size(), 2);
  EXPECT_EQ(AsText(*bundle->Find(kId, FileKind::kElf)), "first");
  EXPECT_EQ(AsText(*bundle->Find(kId, FileKind::kDebug)), "dwarf");
  EXPECT_EQ(bundle->passed_over().duplicates, 0);
}

TEST_F(BundleWriterTest, KeepsFilesWithoutBuildIdApart) {
  BundleWriter writer = Create();
  ASSERT_THAT(writer.Add({.path = "/opt/tool"}, AsBytes("of one container")), IsOk());
  ASSERT_THAT(writer.Add({.path = "/opt/tool"}, AsBytes("of another")), IsOk());
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());

  const auto bundle = Bundle::Open(dir_ / "bundle");
  ASSERT_THAT(bundle, IsOk());
  ASSERT_EQ(bundle->manifest().files.size(), 2);
  EXPECT_EQ(AsText(*bundle->Find(bundle->manifest().files[0].member)), "of one container");
  EXPECT_EQ(AsText(*bundle->Find(bundle->manifest().files[1].member)), "of another");
  EXPECT_FALSE(bundle->Find(BuildId(), FileKind::kElf));
}

TEST_F(BundleWriterTest, ListsMissingFiles) {
  BundleWriter writer = Create();
  writer.AddMissing({.path = "/gone", .build_id = kId, .missing = "no such file"});
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());

  const auto bundle = Bundle::Open(dir_ / "bundle");
  ASSERT_THAT(bundle, IsOk());
  EXPECT_THAT(bundle->manifest().files, ElementsAre(Field(&BundledFile::missing, "no such file")));
  EXPECT_FALSE(bundle->Find(kId, FileKind::kElf));
}

TEST_F(BundleWriterTest, GivesTheSameBytesForTheSameFiles) {
  for (const std::string_view name : {"one", "two"}) {
    BundleWriter writer = Create(name);
    ASSERT_THAT(writer.Add({.path = "/usr/bin/ls", .build_id = kId}, AsBytes("content")), IsOk());
    ASSERT_THAT(std::move(writer).Finish({.host = "here"}), IsOk());
  }
  EXPECT_EQ(Written("one"), Written("two"));
}

TEST_F(BundleWriterTest, FindsAShortBuildIdByThePaddedOneOfOldRecordings) {
  const BuildId fast = *BuildId::FromHex("0123456789abcdef");
  const BuildId padded = *BuildId::FromHex("0123456789abcdef000000000000000000000000");
  BundleWriter writer = Create();
  ASSERT_THAT(writer.Add({.path = "/lld", .build_id = fast}, AsBytes("content")), IsOk());
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());
  const auto bundle = Bundle::Open(dir_ / "bundle");
  ASSERT_THAT(bundle, IsOk());
  EXPECT_TRUE(bundle->Find(padded, FileKind::kElf));
}

TEST_F(BundleWriterTest, WritesNamesOfAnyBytes) {
  const std::string path = "/tmp/" + std::string(200, 'x') + "/\xff\xfe caf\xc3\xa9\\";
  BundleWriter writer = Create();
  ASSERT_THAT(writer.Add({.path = path, .build_id = kId}, AsBytes("content")), IsOk());
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());
  const auto bundle = Bundle::Open(dir_ / "bundle");
  ASSERT_THAT(bundle, IsOk());
  EXPECT_EQ(bundle->manifest().files[0].path, path);
  EXPECT_THAT(bundle->Find(kId, FileKind::kElf), Optional(testing::SizeIs(7)));
}

TEST_F(BundleWriterTest, ReportsAFullDisk) {
  UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full here";
  auto writer = BundleWriter::Create(std::move(full), 1);
  ASSERT_THAT(writer, IsOk());
  EXPECT_THAT(std::move(*writer).Finish({}),
              FailsWith(ErrorCode::kIo, testing::HasSubstr("space")));
}

}  // namespace
}  // namespace perftape::bundle
