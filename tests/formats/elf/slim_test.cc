// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/slim.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "formats/base/file.h"
#include "formats/elf/build_id.h"
#include "formats/elf/plt.h"
#include "formats/elf/symbols.h"
#include "tests/support/elf_builder.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;
using testing::IsEmpty;
using testing::Not;

// The header of a section and its bytes; empty for a section without bytes.
struct SectionSeen {
  Elf64_Shdr header = {};
  Bytes bytes;
};

// Returns a section by name, of a 64-bit file in this machine's byte order.
SectionSeen SectionOf(Bytes image, std::string_view name) {
  Elf64_Ehdr file;
  std::memcpy(&file, image.data(), sizeof file);
  const auto header = [&](std::size_t i) {
    Elf64_Shdr section;
    std::memcpy(&section, &image[file.e_shoff + i * sizeof section], sizeof section);
    return section;
  };
  const std::string_view names = AsText(image.subspan(header(file.e_shstrndx).sh_offset));
  for (std::size_t i = 1; i < file.e_shnum; ++i) {
    const Elf64_Shdr section = header(i);
    if (std::string_view(names.substr(section.sh_name).data()) != name) continue;
    const bool has_bytes = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    return {section, has_bytes ? image.subspan(section.sh_offset, section.sh_size) : Bytes{}};
  }
  return {};
}

// Returns a program in the layout of GNU ld: notes, text, unwind tables, data, symbols.
ElfBuilder Program() {
  ElfBuilder elf(ET_DYN);
  elf.AddSegment({.offset = 0, .address = 0x400000, .size = 0x800});
  elf.AddSegment({.offset = 0x1000, .address = 0x401000, .size = 0x3000});
  elf.SetBuildId("0123456789abcdefghij");
  const auto text = elf.AddSection({.name = ".text",
                                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .address = 0x401000,
                                    .size = 0x2000,
                                    .contents = "code",
                                    .offset = 0x1000});
  elf.AddSection({.name = ".eh_frame_hdr",
                  .flags = SHF_ALLOC,
                  .address = 0x403000,
                  .contents = "the table",
                  .offset = 0x3000});
  elf.AddSection({.name = ".eh_frame",
                  .flags = SHF_ALLOC,
                  .address = 0x403010,
                  .contents = "the rows",
                  .offset = 0x3010});
  elf.AddSection({.name = ".data.rel.ro",
                  .flags = SHF_ALLOC | SHF_WRITE,
                  .address = 0x403800,
                  .size = 0x800,
                  .contents = "pointers.functions by line",
                  .offset = 0x3800});
  elf.AddSection({.name = ".debug_info", .size = 0x400, .contents = "who wrote it"});
  elf.AddSymbol({.name = "main", .value = 0x401100, .size = 32, .section = text});
  elf.AddSymbol({.name = "helper", .value = 0x402f00, .size = 16, .section = text});
  return elf;
}

std::vector<std::byte> SlimOf(Bytes image, const SlimOptions& options = {}) {
  const Result<ElfFile> file = ElfFile::FromBytes(image);
  EXPECT_TRUE(file.has_value());
  return SlimCopy(*file, options).value_or(std::vector<std::byte>{});
}

TEST(SlimCopy, LeavesOutCodeAndDwarf) {
  const std::vector<std::byte> image = Program().Build();
  const std::vector<std::byte> slim = SlimOf(image);
  EXPECT_LT(slim.size(), image.size() / 4);
  EXPECT_THAT(AsText(slim), Not(testing::HasSubstr("code")));
  EXPECT_THAT(AsText(slim), Not(testing::HasSubstr("who wrote it")));
}

TEST(SlimCopy, KeepsTheTextHeaderWithoutItsBytes) {
  const std::vector<std::byte> slim = SlimOf(Program().Build());
  const Elf64_Shdr text = SectionOf(slim, ".text").header;
  EXPECT_EQ(text.sh_type, Elf64_Word{SHT_NOBITS});
  EXPECT_EQ(text.sh_flags, Elf64_Xword{SHF_ALLOC | SHF_EXECINSTR});
  EXPECT_EQ(text.sh_addr, 0x401000u);
  EXPECT_EQ(text.sh_offset, 0x1000u);
  EXPECT_EQ(text.sh_size, 0x2000u);
}

TEST(SlimCopy, LeadsFromAnOffsetToTheAddressThatTheOriginalDoes) {
  const std::vector<std::byte> slim = SlimOf(Program().Build());
  const Result<ElfFile> file = ElfFile::FromBytes(slim);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->ToImage(FileOffset{0x1108}), ImageAddress{0x401108});
  const SymbolTable symbols = SymbolTable::Read(*file);
  ASSERT_NE(symbols.Find(ImageAddress{0x402f04}), nullptr);
  EXPECT_EQ(symbols.Find(ImageAddress{0x402f04})->name, "helper");
}

TEST(SlimCopy, HasTheBuildIdInItsNoteSegmentAndInItsSection) {
  const std::vector<std::byte> slim = SlimOf(Program().Build());
  const BuildId expected = BuildId::From(AsBytes("0123456789abcdefghij"));
  EXPECT_EQ(BuildIdOf(slim).value(), expected);  // found by the program header
  EXPECT_EQ(BuildIdFromNotes(SectionOf(slim, ".note.gnu.build-id").bytes), expected);
}

TEST(SlimCopy, LeavesTheTablesOfUnwindingAsFarApartAsTheyWere) {
  const std::vector<std::byte> slim = SlimOf(Program().Build());
  const SectionSeen table = SectionOf(slim, ".eh_frame_hdr"), rows = SectionOf(slim, ".eh_frame");
  EXPECT_EQ(AsText(table.bytes), "the table");
  EXPECT_EQ(AsText(rows.bytes), "the rows");
  EXPECT_EQ(rows.header.sh_offset - table.header.sh_offset, 0x10u);
}

TEST(SlimCopy, KeepsDwarfIfAsked) {
  const std::vector<std::byte> image = Program().Build();
  const std::vector<std::byte> slim = SlimOf(image, {.dwarf = SlimDwarf::kKeep});
  EXPECT_EQ(AsText(SectionOf(slim, ".debug_info").bytes),
            AsText(SectionOf(image, ".debug_info").bytes));
}

// Returns an image with text, a linkage table at `offset`, and sections that slimming removes.
std::vector<std::byte> ImageWithPltAt(std::uint64_t offset) {
  ElfBuilder elf(ET_DYN);
  elf.AddSection({.name = ".text",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = 0x1000,
                  .size = 0x2000,
                  .contents = "code",
                  .offset = 0x1000});
  elf.AddSection({.name = ".plt",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = offset,
                  .contents = "jumps",
                  .offset = offset});
  elf.AddSection({.name = ".debug_info", .size = 0x2000, .contents = "who wrote it"});
  return elf.Build();
}

TEST(SlimCopy, LeavesTheLinkageTableAtItsOffset) {
  const std::vector<std::byte> slim = SlimOf(ImageWithPltAt(0x8010));
  const SectionSeen table = SectionOf(slim, ".plt");
  EXPECT_EQ(table.header.sh_offset, 0x8010u);
  EXPECT_EQ(AsText(table.bytes), "jumps");
}

TEST(SlimCopy, MovesTheLinkageTableWhereThatWouldLeaveALargeHole) {
  constexpr std::uint64_t kFarOff = 0x1800010;
  const std::vector<std::byte> slim = SlimOf(ImageWithPltAt(kFarOff));
  const SectionSeen table = SectionOf(slim, ".plt");
  EXPECT_LT(slim.size(), 0x1000u);
  EXPECT_LT(table.header.sh_offset, 0x1000u);
  EXPECT_EQ(table.header.sh_addr, kFarOff);
  EXPECT_EQ(AsText(table.bytes), "jumps");
}

TEST(SlimCopy, KeepsARangeInTheSectionThatHoldsIt) {
  const FileRange range = {{0x3800 + 9}, 17};
  const std::vector<std::byte> slim = SlimOf(Program().Build(), {.also = {&range, 1}});
  const SectionSeen section = SectionOf(slim, ".data.rel.ro");
  ASSERT_EQ(section.bytes.size(), 0x800u);
  EXPECT_EQ(AsText(section.bytes).substr(0, 26), "\0\0\0\0\0\0\0\0\0functions by line"s);
}

TEST(SlimCopy, KeepsOfTheRelocationsThoseOfTheGlobalOffsetTable) {
  ElfBuilder elf = Program();
  elf.AddSection({.name = ".got", .flags = SHF_ALLOC, .address = 0x405000, .size = 16});
  const Elf64_Rela relocations[] = {{0x403800, R_X86_64_RELATIVE, 1},
                                    {0x405008, R_X86_64_GLOB_DAT, 2},
                                    {0x403808, R_X86_64_RELATIVE, 3}};
  const auto* bytes = reinterpret_cast<const char*>(relocations);
  elf.AddSection({.name = ".rela.dyn",
                  .type = SHT_RELA,
                  .flags = SHF_ALLOC,
                  .contents = std::string(bytes, sizeof relocations),
                  .entry_size = sizeof(Elf64_Rela)});
  const std::vector<std::byte> slim = SlimOf(elf.Build());
  EXPECT_EQ(AsText(SectionOf(slim, ".rela.dyn").bytes),
            std::string_view(bytes + sizeof(Elf64_Rela), sizeof(Elf64_Rela)));
}

TEST(SlimCopy, IsNoneOfARelocatableFile) {
  ElfBuilder module(ET_REL);
  module.AddSection({.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 0x1000});
  EXPECT_THAT(SlimOf(module.Build()), IsEmpty());
}

TEST(SlimCopy, IsNoneWhereNothingCanBeLeftOut) {
  ElfBuilder elf;
  elf.AddSection({.name = ".eh_frame", .flags = SHF_ALLOC, .contents = "all that there is"});
  EXPECT_THAT(SlimOf(elf.Build()), IsEmpty());
}

// A 32-bit file of the other byte order, with text, a symbol and a build id.
class ForeignFile {
 public:
  ForeignFile() {
    image_.resize(0x1400);
    const std::string note = ElfNoteOfForeignOrder();
    Put(0,
        "\x7f"
        "ELF\1\2\1"s);  // 32 bits, big-endian, version 1
    Half(16, ET_EXEC);
    Half(18, EM_PPC);
    Word(20, 1);
    Word(28, 52);      // e_phoff
    Word(32, 0x1300);  // e_shoff
    Half(40, 52);
    Half(42, 32);
    Half(44, 2);  // program headers
    Half(46, 40);
    Half(48, 6);  // sections
    Half(50, 5);
    Program(52, PT_LOAD, 0, 0x10000000, 0x1100);
    Program(84, PT_NOTE, 0x1100, 0, static_cast<std::uint32_t>(note.size()));
    Put(0x1100, note);
    Put(0x1200, "\0spin\0"s);
    Put(0x1210, "\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0.shstrtab\0"s);
    Word(0x1280 + 16, 1);  // the symbol: name, value, size, info, section
    Word(0x1280 + 20, 0x10000100);
    Word(0x1280 + 24, 0x40);
    image_[0x1280 + 28] = std::byte{ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)};
    Half(0x1280 + 30, 2);
    Section(1, 1, SHT_NOTE, 0, 0, 0x1100, static_cast<std::uint32_t>(note.size()));
    Section(2, 20, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x10000080, 0x80, 0x1000);
    Section(3, 26, SHT_SYMTAB, 0, 0, 0x1280, 32);
    Word(0x1300 + 3 * 40 + 24, 4);
    Word(0x1300 + 3 * 40 + 36, 16);
    Section(4, 34, SHT_STRTAB, 0, 0, 0x1200, 6);
    Section(5, 42, SHT_STRTAB, 0, 0, 0x1210, 52);
  }
  Bytes bytes() const { return image_; }

 private:
  static std::string ElfNoteOfForeignOrder() { return "\0\0\0\4\0\0\0\10\0\0\0\3GNU\0anidof8b"s; }
  void Put(std::size_t at, std::string_view text) {
    std::memcpy(&image_[at], text.data(), text.size());
  }
  void Half(std::size_t at, std::uint16_t value) {
    const std::uint16_t big = std::byteswap(value);
    std::memcpy(&image_[at], &big, sizeof big);
  }
  void Word(std::size_t at, std::uint32_t value) {
    const std::uint32_t big = std::byteswap(value);
    std::memcpy(&image_[at], &big, sizeof big);
  }
  void Program(std::size_t at, std::uint32_t type, std::uint32_t offset, std::uint32_t address,
               std::uint32_t size) {
    Word(at, type);
    Word(at + 4, offset);
    Word(at + 8, address);
    Word(at + 16, size);
    Word(at + 20, size);
    Word(at + 24, PF_R | PF_X);
  }
  void Section(std::size_t number, std::uint32_t name, std::uint32_t type, std::uint32_t flags,
               std::uint32_t address, std::uint32_t offset, std::uint32_t size) {
    const std::size_t at = 0x1300 + number * 40;
    Word(at, name);
    Word(at + 4, type);
    Word(at + 8, flags);
    Word(at + 12, address);
    Word(at + 16, offset);
    Word(at + 20, size);
  }

  std::vector<std::byte> image_;
};

TEST(SlimCopy, IsMadeOf32BitsAndTheOtherByteOrder) {
  const ForeignFile original;
  const std::vector<std::byte> slim = SlimOf(original.bytes());
  ASSERT_THAT(slim, Not(IsEmpty()));
  EXPECT_LT(slim.size(), 0x500u);
  const Result<ElfFile> file = ElfFile::FromBytes(slim);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->build_id(), BuildId::From(AsBytes("anidof8b")));
  EXPECT_EQ(file->ToImage(FileOffset{0x110}), ImageAddress{0x10000110});
  const SymbolTable symbols = SymbolTable::Read(*file);
  ASSERT_NE(symbols.Find(ImageAddress{0x10000110}), nullptr);
  EXPECT_EQ(symbols.Find(ImageAddress{0x10000110})->name, "spin");
}

TEST(SlimCopy, OfADamagedFileIsNoLargerAndOpensWhereTheFileDoes) {
  const std::vector<std::byte> image = Program().Build();
  std::mt19937 dice(5);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> damaged = image;
    for (int flip = 0; flip < 3; ++flip) {
      // The headers are at both ends of the file.
      const std::size_t at = dice() % 2 == 0 ? dice() % 256 : damaged.size() - 1 - dice() % 900;
      damaged[at] = static_cast<std::byte>(dice());
    }
    if (dice() % 4 == 0) damaged.resize(dice() % damaged.size());
    const Result<ElfFile> file = ElfFile::FromBytes(damaged);
    if (!file) continue;
    const auto slim = SlimCopy(*file);
    if (!slim) continue;
    EXPECT_LT(slim->size(), damaged.size());
    EXPECT_TRUE(ElfFile::FromBytes(*slim).has_value());
  }
}

// Compares names from a slim copy with those from the original, for files of this machine.
void ExpectEqualNames(const ElfFile& original, const ElfFile& slim) {
  EXPECT_EQ(slim.build_id(), original.build_id());
  ASSERT_EQ(slim.segments().size(), original.segments().size());
  for (std::size_t i = 0; i < slim.segments().size(); ++i) {
    EXPECT_EQ(slim.segments()[i].offset, original.segments()[i].offset);
    EXPECT_EQ(slim.segments()[i].address, original.segments()[i].address);
    EXPECT_EQ(slim.segments()[i].size, original.segments()[i].size);
  }
  const SymbolTable there = SymbolTable::Read(original), here = SymbolTable::Read(slim);
  EXPECT_TRUE(std::ranges::equal(there.symbols(), here.symbols(), [](auto& a, auto& b) {
    return a.name == b.name && a.start == b.start && a.size == b.size;
  }));
  EXPECT_TRUE(std::ranges::equal(ReadPlt(original), ReadPlt(slim), [](auto& a, auto& b) {
    return a.name == b.name && a.start == b.start && a.resolver == b.resolver;
  }));
}

TEST(SlimCopy, NamesWhatTheProgramsOfThisMachineName) {
  int tried = 0;
  std::uint64_t before = 0, after = 0;
  for (const char* directory : {"/usr/bin", "/usr/lib/x86_64-linux-gnu"}) {
    std::vector<std::filesystem::path> paths;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
      if (entry.is_regular_file() && entry.file_size() < (4 << 20)) paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    for (std::size_t i = 0; i < paths.size(); i += 1 + paths.size() / 30) {
      const Result<ElfFile> original = ElfFile::Open(paths[i]);
      if (!original) continue;
      SCOPED_TRACE(paths[i]);
      const auto bytes = SlimCopy(*original);
      if (!bytes) continue;
      const Result<ElfFile> slim = ElfFile::FromBytes(*bytes);
      ASSERT_TRUE(slim);
      ExpectEqualNames(*original, *slim);
      ++tried;
      before += std::filesystem::file_size(paths[i]);
      after += bytes->size();
    }
  }
  if (tried == 0) GTEST_SKIP() << "no ELF files in /usr/bin and /usr/lib/x86_64-linux-gnu";
  EXPECT_LT(after, before / 2);
}

TEST(SlimCopy, KeepsTheTablesOfTheProgramThatRunsThisTest) {
  const Result<ElfFile> original = ElfFile::Open("/proc/self/exe");
  ASSERT_TRUE(original);
  const Result<MappedFile> mapped = MappedFile::Open("/proc/self/exe");
  ASSERT_TRUE(mapped);
  const auto slim = SlimCopy(*original);
  ASSERT_TRUE(slim);
  for (const char* name : {".eh_frame", ".eh_frame_hdr", ".dynsym", ".symtab"}) {
    EXPECT_TRUE(
        std::ranges::equal(SectionOf(mapped->bytes(), name).bytes, SectionOf(*slim, name).bytes))
        << name;
  }
}

TEST(SlimCopy, IsNoneWhereItWouldBeLargerThanItsLimit) {
  const std::vector<std::byte> image = SmallElf("0123456789");
  const ElfFile file = ElfFile::FromBytes(image).value();
  const auto slim = SlimCopy(file);
  ASSERT_TRUE(slim);
  EXPECT_TRUE(SlimCopy(file, {.limit = slim->size()}));
  EXPECT_FALSE(SlimCopy(file, {.limit = slim->size() - 1}));
}

}  // namespace
}  // namespace perftape::elf
