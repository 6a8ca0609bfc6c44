// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/base/zstd.h"
#include "formats/elf/symbols.h"
#include "tests/support/elf_builder.h"
#include "tests/support/matchers.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

template <class T>
std::string Stored(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// { u32 type, reserved; u64 size, alignment; stream }
std::string Compressed(std::uint32_t type, std::uint64_t size, const std::string& stream) {
  return Stored(type) + Stored(std::uint32_t{0}) + Stored(size) + Stored(std::uint64_t{1}) + stream;
}

// A zlib stream (RFC 1950) of one block that is stored as it is.
std::string ZlibStream(const std::string& text) {
  std::uint32_t a = 1, b = 0;
  for (const char c : text) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<std::uint16_t>(text.size());
  std::string stream = "\x78\x01\x01" + Stored(size) + Stored(static_cast<std::uint16_t>(~size));
  stream += text;
  for (const std::uint32_t byte : {b >> 8, b & 0xff, a >> 8, a & 0xff}) {
    stream += static_cast<char>(byte);
  }
  return stream;
}

std::string ZstdStream(const std::string& text) {
  ZstdCompressor compressor = ZstdCompressor::Create(1).value();
  std::vector<std::byte> stream;
  compressor.Compress(AsBytes(text), stream).value();
  compressor.End(stream).value();
  return std::string(AsText(stream));
}

// What ReadSection makes of the only section of a file.
class ReadSectionTest : public testing::Test {
 protected:
  Result<SectionBytes> Read(std::string name, std::string contents, std::uint64_t flags = 0) {
    ElfBuilder elf;
    elf.AddSection({.name = std::move(name), .flags = flags, .contents = std::move(contents)});
    image_ = elf.Build();
    file_.emplace(ElfFile::FromBytes(image_).value());
    return ReadSection(*file_, file_->sections()[1]);
  }

  static std::string TextOf(const Result<SectionBytes>& section) {
    return section ? std::string(AsText(section->bytes())) : section.error().message;
  }

 private:
  std::vector<std::byte> image_;
  std::optional<ElfFile> file_;
};

TEST_F(ReadSectionTest, GivesWhatIsNotCompressedAsItLies) {
  EXPECT_EQ(TextOf(Read(".debug_str", "reel")), "reel");
}

TEST_F(ReadSectionTest, ExpandsZlib) {
  EXPECT_EQ(TextOf(Read(".debug_str", Compressed(1, 4, ZlibStream("reel")), SHF_COMPRESSED)),
            "reel");
}

TEST_F(ReadSectionTest, ExpandsZstd) {
  EXPECT_EQ(TextOf(Read(".debug_str", Compressed(2, 4, ZstdStream("reel")), SHF_COMPRESSED)),
            "reel");
}

TEST_F(ReadSectionTest, ExpandsTheOlderKindByItsName) {
  const std::string size = "\0\0\0\0\0\0\0\4"s;
  EXPECT_EQ(TextOf(Read(".zdebug_str", "ZLIB" + size + ZlibStream("reel"))), "reel");
  EXPECT_EQ(TextOf(Read(".zdebug_str", "not compressed")), "not compressed");
}

TEST_F(ReadSectionTest, RefusesAStreamOfAnotherSizeThanItSays) {
  for (const std::uint64_t size : {3U, 5U, 0U}) {
    EXPECT_THAT(Read(".debug_str", Compressed(1, size, ZlibStream("reel")), SHF_COMPRESSED),
                FailsWith(ErrorCode::kCorrupt))
        << size;
  }
  EXPECT_THAT(Read(".debug_str", Compressed(2, 5, ZstdStream("reel")), SHF_COMPRESSED),
              FailsWith(ErrorCode::kCorrupt));
}

TEST_F(ReadSectionTest, RefusesAClaimThatNoStreamCouldKeepBeforeItMakesRoom) {
  const std::uint64_t exabyte = std::uint64_t{1} << 60;
  EXPECT_THAT(TextOf(Read(".debug_str", Compressed(1, exabyte, ZlibStream("x")), SHF_COMPRESSED)),
              HasSubstr("section .debug_str: claims to expand 12 bytes to 1152921504606846976"));
}

TEST_F(ReadSectionTest, RefusesDamagedAndUnknownStreams) {
  const std::string stream = ZlibStream("reel");
  EXPECT_THAT(Read(".d", Compressed(1, 4, stream.substr(0, 9)), SHF_COMPRESSED),
              FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(Read(".d", Compressed(2, 4, "no zstd"), SHF_COMPRESSED),
              FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(Read(".d", Compressed(7, 4, stream), SHF_COMPRESSED),
              FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(Read(".d", "short", SHF_COMPRESSED), FailsWith(ErrorCode::kTruncated));
}

TEST_F(ReadSectionTest, TellsWhereTheFileEndsInsideTheSection) {
  ElfBuilder elf;
  elf.AddSection({.name = ".debug_str", .size = 1U << 21});  // more than the builder stores
  const std::vector<std::byte> image = elf.Build();
  const ElfFile file = ElfFile::FromBytes(image).value();
  EXPECT_THAT(ReadSection(file, file.sections()[1]), FailsWith(ErrorCode::kTruncated));
}

// .text with a function, two compressed sections, one that is not.
std::vector<std::byte> CompressedImage() {
  ElfBuilder elf(ET_DYN);
  const std::uint16_t text = elf.AddSection(
      {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .address = 0x1000, .contents = "code"});
  elf.AddSection({.name = ".debug_info",
                  .flags = SHF_COMPRESSED,
                  .contents = Compressed(2, 4, ZstdStream("info"))});
  elf.AddSection(
      {.name = ".zdebug_line", .contents = "ZLIB\0\0\0\0\0\0\0\4"s + ZlibStream("line")});
  elf.AddSection({.name = ".debug_str", .contents = "str"});
  elf.AddSegment({.offset = 0x40, .address = 0x1000, .size = 4});
  elf.AddSymbol({.name = "play", .value = 0x1000, .size = 4, .section = text});
  elf.SetBuildId("an id");
  return elf.Build();
}

TEST(ExpandedImage, HasAllSectionsThatDebuggersReadInPlain) {
  const std::vector<std::byte> image = CompressedImage();
  const ElfFile file = ElfFile::FromBytes(image).value();
  EXPECT_TRUE(HasCompressedSections(file));
  const ElfFile expanded = ElfFile::Owning(ExpandedImage(file).value()).value();
  EXPECT_FALSE(HasCompressedSections(expanded));
  const auto text_of = [&](const char* name) {
    const Section* section = expanded.FindSection(name);
    return section == nullptr ? "(absent)" : std::string(AsText(expanded.RawBytes(*section)));
  };
  EXPECT_EQ(text_of(".debug_info"), "info");
  EXPECT_EQ(text_of(".debug_line"), "line");
  EXPECT_EQ(text_of(".debug_str"), "str");
  EXPECT_EQ(text_of(".text"), "");
  EXPECT_EQ(expanded.build_id(), file.build_id());
  EXPECT_EQ(expanded.ToImage({0x42}), ImageAddress{0x1002});
  EXPECT_EQ(SymbolTable::Read(expanded).Find({0x1003})->name, "play");
}

TEST(ExpandedImage, IsNoneOfAFileWhereverThatIsCut) {
  const std::vector<std::byte> image = CompressedImage();
  for (std::size_t size = 0; size < image.size(); ++size) {
    const std::vector<std::byte> cut(image.begin(), image.begin() + static_cast<long>(size));
    const auto file = ElfFile::FromBytes(cut);
    if (file && file->sections().size() > 1) {
      EXPECT_FALSE(ExpandedImage(*file).has_value()) << size;
    }
  }
}

TEST(ExpandedImage, RefusesSectionsThatLieUponEachOther) {
  ElfBuilder elf;
  for (int i = 0; i < 4000; ++i) {
    elf.AddSection({.name = ".debug_str", .size = 1U << 20, .contents = "x", .offset = 0x40});
  }
  const std::vector<std::byte> image = elf.Build();
  const ElfFile file = ElfFile::FromBytes(image).value();
  EXPECT_THAT(ExpandedImage(file), FailsWith(ErrorCode::kCorrupt));
}

}  // namespace
}  // namespace perftape::elf
