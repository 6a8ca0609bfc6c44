// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/build_id.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <span>
#include <string>

#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;

const std::string kGnu = "GNU\0"s;
const std::string kId = "0123456789abcdefghij";

BuildId Id(std::string_view bytes) {
  return BuildId::From(AsBytes(bytes));
}

TEST(BuildIdFromNotes, FindsTheIdBehindOtherNotes) {
  const std::string notes = ElfNote("Linux\0"s, 0x101, "y") + ElfNote(kGnu, 5, "prop") +
                            ElfNote(kGnu, NT_GNU_BUILD_ID, kId) + ElfNote("Xen\0"s, 1, "abc");
  EXPECT_EQ(BuildIdFromNotes(AsBytes(notes)), Id(kId));
}

TEST(BuildIdFromNotes, ChecksNameAndType) {
  const std::string notes =
      ElfNote("Go\0\0"s, NT_GNU_BUILD_ID, kId) + ElfNote(kGnu, NT_GNU_ABI_TAG, kId);
  EXPECT_TRUE(BuildIdFromNotes(AsBytes(notes)).empty());
}

TEST(BuildIdFromNotes, ReadsTheOtherByteOrder) {
  const std::string note = "\0\0\0\4\0\0\0\3\0\0\0\3GNU\0abc\0"s;
  EXPECT_EQ(BuildIdFromNotes(AsBytes(note), std::endian::big), Id("abc"));
}

TEST(BuildIdFromNotes, AcceptsALastNoteWithoutPadding) {
  const std::string note = ElfNote(kGnu, NT_GNU_BUILD_ID, "abc");
  EXPECT_EQ(BuildIdFromNotes(AsBytes(note).first(note.size() - 1)), Id("abc"));
}

TEST(BuildIdFromNotes, GivesTheWholeIdOrNoneWhereTheNotesAreCut) {
  const std::string notes = ElfNote(kGnu, 5, "12345") + ElfNote(kGnu, NT_GNU_BUILD_ID, kId);
  for (std::size_t size = 0; size < notes.size(); ++size) {
    EXPECT_TRUE(BuildIdFromNotes(AsBytes(notes).first(size)).empty()) << size;
  }
}

TEST(BuildIdFromNotes, StopsAtANoteThatClaimsFourGigabytes) {
  const std::string notes =
      "\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0"s + ElfNote(kGnu, NT_GNU_BUILD_ID, kId);
  EXPECT_TRUE(BuildIdFromNotes(AsBytes(notes)).empty());
}

TEST(BuildIdOf, ReadsTheNoteSegment) {
  EXPECT_EQ(BuildIdOf(SmallElf(kId)).value(), Id(kId));
}

TEST(BuildIdOf, ReadsTheNoteSectionWhereThereAreNoProgramHeaders) {
  ElfBuilder elf(ET_REL);
  elf.AddSection({.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 16});
  elf.SetBuildId(kId, ElfBuilder::NoteIn::kSectionOnly);
  EXPECT_EQ(BuildIdOf(elf.Build()).value(), Id(kId));
}

TEST(BuildIdOf, IsEmptyForAFileWithoutOne) {
  EXPECT_TRUE(BuildIdOf(SmallElf("")).value().empty());
}

TEST(BuildIdOf, Reads32BitBigEndianFiles) {
  // ELF header, one program header of type NOTE at 52, the note at 84.
  const std::string image =
      "\x7f"
      "ELF\1\2\1\0\0\0\0\0\0\0\0\0"
      "\0\2\0\x14\0\0\0\1\0\0\0\0\0\0\0\x34\0\0\0\0\0\0\0\0\0\x34\0\x20\0\1\0\0\0\0\0\0"
      "\0\0\0\4\0\0\0\x54\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\x14\0\0\0\4\0\0\0\4"
      "\0\0\0\4\0\0\0\4\0\0\0\3GNU\0wxyz"s;
  ASSERT_EQ(image.size(), 84U + 20U);
  EXPECT_EQ(BuildIdOf(AsBytes(image)).value(), Id("wxyz"));
}

TEST(BuildIdOf, EndsWellWhereverTheFileIsCut) {
  const std::vector<std::byte> image = SmallElf(kId);
  const BuildId id = Id(kId);
  for (std::size_t size = 0; size < image.size(); ++size) {
    const auto read = BuildIdOf(Bytes(image).first(size));
    EXPECT_TRUE(!read || read->empty() || *read == id) << size;
    EXPECT_FALSE(size < 62 && read) << size;
  }
}

TEST(BuildIdOf, SurvivesAnyWrongByte) {
  std::vector<std::byte> image = SmallElf(kId);
  for (std::size_t at = 0; at < 64 + 2 * 56 + 36; ++at) {
    for (const std::byte flip : {std::byte{0xff}, std::byte{0x80}, std::byte{1}}) {
      image[at] ^= flip;
      const auto read = BuildIdOf(image);
      EXPECT_FALSE(at < 4 && read) << at;
      image[at] ^= flip;
    }
  }
}

TEST(ReadBuildId, ReadsAFile) {
  const TempDir dir;
  EXPECT_EQ(ReadBuildId(dir.Write("program", SmallElf(kId))).value(), Id(kId));
}

TEST(ReadBuildId, NamesTheFileThatIsNoElf) {
  const TempDir dir;
  const auto read = ReadBuildId(dir.Write("script", "#!/bin/sh\n"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read.error().message, (dir / "script").native() + ": not an ELF file");
}

TEST(ReadBuildId, DoesNotWaitForTheWriterOfAPipe) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  const auto read = ReadBuildId(dir / "pipe");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
}

TEST(ReadBuildId, ReportsAMissingFile) {
  const auto read = ReadBuildId("/nonexistent/program");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
}

// Each of many headers can name the same large notes.
TEST(BuildIdOf, ReadsALimitedNumberOfBytes) {
  const auto id_behind = [](int large_notes) {
    ElfBuilder elf;
    for (int i = 0; i < large_notes; ++i) {
      elf.AddSection({.name = ".note", .type = SHT_NOTE, .contents = std::string(64 << 10, '\0')});
    }
    elf.SetBuildId(kId, ElfBuilder::NoteIn::kSectionOnly);
    return BuildIdOf(elf.Build()).value();
  };
  EXPECT_EQ(id_behind(3), Id(kId));
  EXPECT_TRUE(id_behind(20).empty());
}

}  // namespace
}  // namespace perftape::elf
