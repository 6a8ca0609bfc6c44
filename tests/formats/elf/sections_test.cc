// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/elf/symbols.h"
#include "tests/support/elf_builder.h"
#include "tests/support/matchers.h"
#include "tests/support/zstd_frame.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

template <class T>
std::string Stored(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Returns { u32 type, reserved; u64 size, alignment; stream }.
std::string Compressed(std::uint32_t type, std::uint64_t size, const std::string& stream) {
  return Stored(type) + Stored(std::uint32_t{0}) + Stored(size) + Stored(std::uint64_t{1}) + stream;
}

// Returns a zlib stream (RFC 1950) of one stored block.
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

// Calls ReadSection for the only section of a file.
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

TEST_F(ReadSectionTest, ReturnsUncompressedSectionsUnchanged) {
  EXPECT_EQ(TextOf(Read(".debug_str", "reel")), "reel");
}

TEST_F(ReadSectionTest, ExpandsZlib) {
  EXPECT_EQ(TextOf(Read(".debug_str", Compressed(1, 4, ZlibStream("reel")), SHF_COMPRESSED)),
            "reel");
}

TEST_F(ReadSectionTest, ExpandsZstd) {
  EXPECT_EQ(
      TextOf(Read(".debug_str", Compressed(2, 4, std::string(AsText(ZstdFrame(AsBytes("reel"))))),
                  SHF_COMPRESSED)),
      "reel");
}

TEST_F(ReadSectionTest, ExpandsZdebugSections) {
  const std::string size = "\0\0\0\0\0\0\0\4"s;
  EXPECT_EQ(TextOf(Read(".zdebug_str", "ZLIB" + size + ZlibStream("reel"))), "reel");
  EXPECT_EQ(TextOf(Read(".zdebug_str", "not compressed")), "not compressed");
}

TEST_F(ReadSectionTest, RejectsAStreamOfAnotherSizeThanStated) {
  for (const std::uint64_t size : {3U, 5U, 0U}) {
    EXPECT_THAT(Read(".debug_str", Compressed(1, size, ZlibStream("reel")), SHF_COMPRESSED),
                FailsWith(ErrorCode::kCorrupt))
        << size;
  }
  EXPECT_THAT(Read(".debug_str", Compressed(2, 5, std::string(AsText(ZstdFrame(AsBytes("reel"))))),
                   SHF_COMPRESSED),
              FailsWith(ErrorCode::kCorrupt));
}

TEST_F(ReadSectionTest, RejectsImpossibleSizesBeforeItAllocates) {
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

TEST_F(ReadSectionTest, ReportsASectionBehindTheEnd) {
  ElfBuilder elf;
  elf.AddSection({.name = ".debug_str", .size = 1U << 21});  // more than the builder stores
  const std::vector<std::byte> image = elf.Build();
  const ElfFile file = ElfFile::FromBytes(image).value();
  EXPECT_THAT(ReadSection(file, file.sections()[1]), FailsWith(ErrorCode::kTruncated));
}

}  // namespace
}  // namespace perftape::elf
