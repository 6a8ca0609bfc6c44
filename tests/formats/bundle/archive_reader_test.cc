// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/archive_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "formats/base/progress.h"
#include "formats/bundle/archive_writer.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Eq;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Result<UnpackedArchive> UnpackTar(const TarBuilder& tar, const UnpackLimits& limits = {}) {
  return Unpack(AsBytes(tar.Bytes()), limits);
}

auto Named(const std::string& name) {
  return Field(&UnpackedMember::name, name);
}

// Returns a tar.zst like those of perftape.
std::string Compressed(const std::string& name, Bytes content) {
  const TempDir dir;
  const auto path = dir.Write("archive", "");
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  auto writer = ArchiveWriter::Create(std::move(fd), 3);
  EXPECT_THAT(writer, IsOk());
  EXPECT_THAT(writer->AddFile(name, content), IsOk());
  EXPECT_THAT(std::move(*writer).Finish(), IsOk());
  return *ReadWholeFile(path);
}

TEST(Unpack, CountsItsProgress) {
  const std::string archive = Compressed("a", AsBytes("content"));
  const ProgressCounts before = CurrentProgress();
  ASSERT_THAT(Unpack(AsBytes(archive), {}), IsOk());
  const ProgressCounts after = CurrentProgress();
  EXPECT_EQ(after.work_bytes - before.work_bytes, archive.size());
  EXPECT_EQ(after.done_bytes - before.done_bytes, archive.size());
}

TEST(Unpack, ReadsATarBz2) {
  const TempDir dir;
  const auto path = dir.Write("archive", "");
  auto writer = ArchiveWriter::CreateBzip2(UniqueFd(::open(path.c_str(), O_WRONLY | O_CLOEXEC)));
  ASSERT_THAT(writer, IsOk());
  EXPECT_THAT(writer->AddFile("a", AsBytes("content")), IsOk());
  EXPECT_THAT(std::move(*writer).Finish(), IsOk());
  const std::string bytes = *ReadWholeFile(path);
  EXPECT_THAT(bytes, testing::StartsWith("BZh"));
  const auto archive = Unpack(AsBytes(bytes), {});
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(archive->members, ElementsAre(Named("a")));
}

TEST(UnpackArchive, GivesFilesAndLinksInTheirOrder) {
  TarBuilder tar;
  tar.Add({.name = "dir/", .type = '5'});
  tar.Add({.name = "./dir/b", .content = "second letter"});
  tar.Add({.name = "dir/a", .type = '2', .target = "b"});
  tar.Add({.name = "empty"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(
      archive->members,
      ElementsAre(Named("dir/b"), AllOf(Named("dir/a"), Field(&UnpackedMember::target, "b")),
                  Named("empty")));
  EXPECT_EQ(AsText(archive->BytesOf(archive->members[0])), "second letter");
  EXPECT_EQ(archive->passed_over.sum(), 0);
}

TEST(UnpackArchive, KeepsZerosAmongOtherBytes) {
  std::string content(100'000, '\0');
  content[5000] = 'x';
  content[99'999] = 'y';
  TarBuilder tar;
  tar.Add({.name = "a", .content = "odd"});
  tar.Add({.name = "b", .content = content});
  tar.Add({.name = "c", .content = "end"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_EQ(AsText(archive->BytesOf(archive->members[1])), content);
  EXPECT_EQ(AsText(archive->BytesOf(archive->members[2])), "end");
}

TEST(UnpackArchive, SkipsNamesThatLeadOutside) {
  TarBuilder tar;
  tar.Add({.name = "/etc/passwd", .content = "x"});
  tar.Add({.name = "../canary", .content = "x"});
  tar.Add({.name = "a/../../canary", .content = "x"});
  tar.Add({.name = "out", .type = '2', .target = "/etc"});
  tar.Add({.name = "a/out", .type = '2', .target = "../../etc"});
  tar.AddPax({{"path", "/pax/absolute"}});
  tar.Add({.name = "harmless", .content = "x"});
  tar.AddPax({{"linkpath", "../outside"}});
  tar.Add({.name = "harmless", .type = '2', .target = "inside"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(archive->members, IsEmpty());
  EXPECT_EQ(archive->passed_over.unsafe_names, 7);
}

TEST(UnpackArchive, SkipsOtherThanFilesAndLinks) {
  TarBuilder tar;
  tar.Add({.name = "file", .content = "x"});
  tar.Add({.name = "hard", .type = '1', .target = "file"});
  tar.Add({.name = "hard-outside", .type = '1', .target = "../../etc/passwd"});
  tar.Add({.name = "character", .type = '3'});
  tar.Add({.name = "block", .type = '4'});
  tar.Add({.name = "pipe", .type = '6'});
  tar.AddPax({{"GNU.sparse.size", "4096"}, {"GNU.sparse.map", "4095,1"}});
  tar.Add({.name = "sparse", .content = "x"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(archive->members, ElementsAre(Named("file")));
  EXPECT_EQ(archive->passed_over.kinds, 6);
}

TEST(UnpackArchive, KeepsTheFirstMemberOfAName) {
  TarBuilder tar;
  tar.Add({.name = "a", .content = "first"});
  tar.Add({.name = "./a", .content = "second"});
  tar.Add({.name = "a", .type = '2', .target = "b"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  ASSERT_THAT(archive->members, ElementsAre(Named("a")));
  EXPECT_EQ(AsText(archive->BytesOf(archive->members[0])), "first");
  EXPECT_EQ(archive->passed_over.duplicates, 2);
}

TEST(UnpackArchive, KeepsNamesInUtf8) {
  TarBuilder tar;
  tar.AddPax({{"path", "caf\xc3\xa9"}});
  tar.Add({.name = "cafe"});
  tar.Add({.name = "gn\xc3\xbc"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(archive->members, ElementsAre(Named("caf\xc3\xa9"), Named("gn\xc3\xbc")));
}

TEST(UnpackArchive, RefusesASizeBeyondItsLimitBeforeItReads) {
  TarBuilder tar;
  tar.Add({.name = "huge", .declared_size = std::uint64_t{1} << 62});
  EXPECT_THAT(UnpackTar(tar), FailsWith(ErrorCode::kUnsupported, HasSubstr("more than")));
}

TEST(UnpackArchive, RefusesTheHugeSizeOfWhatItPassesOver) {
  TarBuilder tar;
  tar.Add({.name = "../huge", .declared_size = std::uint64_t{1} << 62});
  EXPECT_THAT(UnpackTar(tar), FailsWith(ErrorCode::kUnsupported, HasSubstr("more than")));
}

TEST(UnpackArchive, RefusesABomb) {
  const std::string ones(20 << 20, '1');
  const std::string bomb = Compressed("ones", AsBytes(ones));
  ASSERT_LT(bomb.size(), 8000u);
  const UnpackLimits limits{.always = 1 << 20, .ratio = 1000};
  EXPECT_THAT(Unpack(AsBytes(bomb), limits), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(Unpack(AsBytes(bomb), {}), IsOk());  // a small one is accepted
}

TEST(UnpackArchive, CountsZerosApart) {
  const std::string zeros(20 << 20, '\0');
  const std::string archive = Compressed("zeros", AsBytes(zeros));
  EXPECT_THAT(Unpack(AsBytes(archive), {.always = 1 << 20, .ratio = 1000}), IsOk());
  EXPECT_THAT(Unpack(AsBytes(archive), {.always = 1 << 20, .ratio = 1000, .zeros = 1 << 20}),
              FailsWith(ErrorCode::kUnsupported));
}

TEST(UnpackArchive, RefusesTooManyMembers) {
  TarBuilder tar;
  for (int i = 0; i < 100; ++i) tar.Add({.name = "file" + std::to_string(i)});
  EXPECT_THAT(UnpackTar(tar, {.members = 100}), IsOk());
  EXPECT_THAT(UnpackTar(tar, {.members = 99}),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("99 members")));
}

TEST(UnpackArchive, ReadsThousandsOfMembers) {
  TarBuilder tar;
  for (int i = 0; i < 5000; ++i) tar.Add({.name = "dir/file" + std::to_string(i), .content = "x"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_EQ(archive->members.size(), 5000);
}

TEST(UnpackArchive, SkipsAVeryLongName) {
  TarBuilder tar;
  tar.AddPax({{"path", std::string(100'000, 'x')}});
  tar.Add({.name = "x", .content = "x"});
  const auto archive = UnpackTar(tar);
  ASSERT_THAT(archive, IsOk());
  EXPECT_EQ(archive->passed_over.unsafe_names, 1);
}

TEST(UnpackArchive, ThatIsCompressedTwiceIsRefused) {
  TarBuilder tar;
  tar.Add({.name = "a", .content = "x"});
  const std::string once = Compressed("inner", AsBytes(tar.Bytes()));
  const auto archive = Unpack(AsBytes(once), {});
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(archive->members, ElementsAre(Named("inner")));  // not "a", which is a file
}

TEST(UnpackArchive, CutAnywhereIsAnErrorNotAShorterArchive) {
  const std::string whole = Compressed("name", AsBytes(std::string_view("some content here")));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto archive = Unpack(AsBytes(std::string_view(whole).substr(0, size)), {});
    EXPECT_THAT(archive, FailsWith(ErrorCode::kTruncated)) << size;
  }
}

TEST(ReadFirstMember, ReadsNoOtherMember) {
  TarBuilder tar;
  tar.Add({.name = "first", .content = "content"});
  tar.Add({.name = "second", .content = "more"});
  const std::string damaged = tar.Bytes().substr(0, 1024 + 100);  // in the header of the second
  const auto read = [&](std::string_view name, std::size_t most) {
    return ReadFirstMember(AsBytes(damaged), name, most);
  };
  const auto first = read("first", 7);
  ASSERT_THAT(first, IsOk());
  ASSERT_TRUE(*first);
  EXPECT_EQ(AsText(**first), "content");
  EXPECT_THAT(read("second", 7), Holds(Eq(std::nullopt)));
  EXPECT_THAT(read("first", 6), FailsWith(ErrorCode::kUnsupported));
}

TEST(ReadFirstMember, FailsIfItIsCut) {
  const std::string whole = Compressed("name", AsBytes(std::string_view("some content here")));
  for (std::size_t size = 0; size < whole.size() / 2; ++size) {
    const auto cut = AsBytes(std::string_view(whole).substr(0, size));
    EXPECT_THAT(ReadFirstMember(cut, "name", 100), FailsWith(ErrorCode::kTruncated)) << size;
  }
}

TEST(UnpackArchive, RefusesOtherFiles) {
  EXPECT_FALSE(Unpack(AsBytes(std::string(10'000, 'x')), {}));
  EXPECT_FALSE(Unpack({}, {}));
}

}  // namespace
}  // namespace perftape::bundle
