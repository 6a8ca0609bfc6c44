// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/stored_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/zstd.h"
#include "formats/elf/build_id.h"
#include "formats/elf/elf_file.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::elf {
namespace {

void Write(const std::filesystem::path& path, Bytes bytes) {
  std::ofstream(path, std::ios::binary) << AsText(bytes);
}

std::vector<std::byte> Zstd(Bytes plain) {
  auto compressor = ZstdCompressor::Create(1);
  std::vector<std::byte> compressed;
  EXPECT_TRUE(compressor->Compress(plain, compressed));
  EXPECT_TRUE(compressor->Flush(compressed));
  return compressed;
}

TEST(StoredPath, FindsTheFormThatExists) {
  const TempDir dir;
  Write(dir / "a.ko.zst", AsBytes("x"));
  Write(dir / "b.ko", AsBytes("x"));
  EXPECT_EQ(StoredPath(dir / "a.ko"), dir / "a.ko.zst");
  EXPECT_EQ(StoredPath(dir / "a.ko.xz"), dir / "a.ko.zst");
  EXPECT_EQ(StoredPath(dir / "b.ko.gz"), dir / "b.ko");
  EXPECT_EQ(StoredPath(dir / "b.ko"), dir / "b.ko");
  EXPECT_EQ(StoredPath(dir / "c.ko.gz"), dir / "c.ko.gz");
}

TEST(ExpandFile, StopsAtItsLimitAndRefusesDamage) {
  const std::string plain(100000, 'x');
  std::vector<std::byte> compressed = Zstd(AsBytes(plain));
  ASSERT_TRUE(IsCompressed(compressed));
  const auto expanded = ExpandFile(compressed, 200000);
  ASSERT_TRUE(expanded);
  EXPECT_EQ(AsText(*expanded), plain);
  EXPECT_EQ(ExpandFile(compressed, 50000).error().code, ErrorCode::kUnsupported);
  compressed[5] ^= std::byte{0xff};
  compressed[6] ^= std::byte{0xff};
  EXPECT_FALSE(ExpandFile(compressed, 200000).has_value());
  EXPECT_FALSE(ExpandFile(AsBytes("\x1f\x8b\x08 no gzip"), 100).has_value());
}

TEST(ElfFile, OpensACompressedFile) {
  const TempDir dir;
  const std::vector<std::byte> image = SmallElf("abcdefgh");
  Write(dir / "a.ko.zst", Zstd(image));
  const auto file = ElfFile::Open(dir / "a.ko.zst");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->build_id(), BuildId::From(AsBytes("abcdefgh")));
  EXPECT_EQ(*ReadBuildId(dir / "a.ko.zst"), file->build_id());
}

TEST(ElfFile, SaysThatABootImageHasNoSymbols) {
  const TempDir dir;
  std::string image(0x400, '\0');
  image.replace(0x202, 4, "HdrS");
  Write(dir / "vmlinuz", AsBytes(image));
  const auto file = ElfFile::Open(dir / "vmlinuz");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, testing::HasSubstr("which has no symbols"));
}

}  // namespace
}  // namespace perftape::elf
