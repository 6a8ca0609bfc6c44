// SPDX-License-Identifier: Apache-2.0
#include "formats/simpleperf/recorded_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace perftape::simpleperf {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Number(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
  return bytes;
}

std::string WithSize(const std::string& entry) {
  return Number(entry.size(), 4) + entry;
}

// Two functions of a library whose code begins at 0x2000, at offset 0x1000 of the file.
std::string LibraryEntry(std::string_view end = "\x00\x10\0\0\0\0\0\0"sv) {
  return WithSize("/lib/libdraw.so\0"s.append(Number(2, 4)) + Number(0x2000, 8) + Number(2, 4) +
                  Number(0x2100, 8) + Number(0x20, 4) + "_ZN4Draw4lineEi\0"s + Number(0x2040, 8) +
                  Number(0x40, 4) + "clear\0"s + std::string(end));
}

std::string Varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}
std::string NumberField(unsigned field, std::uint64_t number) {
  return Varint(field << 3) + Varint(number);
}
std::string TextField(unsigned field, const std::string& text) {
  return Varint(field << 3 | 2) + Varint(text.size()) + text;
}
std::string SymbolField(std::uint64_t address, std::uint64_t size, const std::string& name) {
  return TextField(4, NumberField(1, address) + NumberField(2, size) + TextField(3, name));
}

std::string LibraryMessage() {
  return WithSize(TextField(1, "/lib/libdraw.so") + NumberField(2, 2) + NumberField(3, 0x2000) +
                  SymbolField(0x2100, 0x20, "_ZN4Draw4lineEi") +
                  SymbolField(0x2040, 0x40, "clear") + TextField(6, NumberField(1, 0x1000)));
}

void ExpectLibrary(const RecordedSymbols& symbols) {
  EXPECT_EQ(symbols.problem, "");
  ASSERT_THAT(symbols.files, SizeIs(1));
  const RecordedFile& file = symbols.files.at("/lib/libdraw.so");
  EXPECT_EQ(file.type, FileType::kElf);
  // Mapped from offset 0x1000 of the file on.
  const auto name_at = [&](std::uint64_t distance) {
    const Symbol* symbol = file.Find(
        AddressIn(file, {.mapping_start = 0x7f0000, .page_offset = 0x1000, .distance = distance}));
    return symbol == nullptr ? ""sv : symbol->name;
  };
  EXPECT_EQ(name_at(0x3f), "");
  EXPECT_EQ(name_at(0x40), "clear");
  EXPECT_EQ(name_at(0x7f), "clear");
  EXPECT_EQ(name_at(0x80), "");
  EXPECT_EQ(name_at(0x11f), "_ZN4Draw4lineEi");
  EXPECT_EQ(name_at(0x120), "");
}

TEST(RecordedSymbols, AreThoseOfTheFileFeature) {
  const std::string section = LibraryEntry();
  ExpectLibrary(ReadFileFeature(AsBytes(section)));
}

TEST(RecordedSymbols, AreThoseOfTheFile2Feature) {
  const std::string section = LibraryMessage();
  ExpectLibrary(ReadFile2Feature(AsBytes(section)));
}

// Before 2019 the offset of the code in the file was not written.
TEST(RecordedSymbols, WithoutAnOffsetAreRelativeToTheMapping) {
  const std::string section = LibraryEntry("");
  ExpectLibrary(ReadFileFeature(AsBytes(section)));
}

TEST(AddressIn, DependsOnTheTypeOfTheFile) {
  const MappedAddress mapped = {.mapping_start = 0x70000, .page_offset = 0x3000, .distance = 0x18};
  const auto address = [&](FileType type) {
    return AddressIn({.type = type, .min_address = 0x500, .offset_of_min_address = 0x10}, mapped);
  };
  EXPECT_EQ(address(FileType::kKernel), 0x70018U);
  EXPECT_EQ(address(FileType::kSymbolMap), 0x70018U);
  EXPECT_EQ(address(FileType::kDex), 0x3018U);
  EXPECT_EQ(address(FileType::kKernelModule), 0x508U);
  EXPECT_EQ(address(FileType::kElf), 0x3508U);
}

TEST(RecordedSymbols, EndBeforeDamage) {
  for (const bool is_second : {false, true}) {
    const std::string one = is_second ? LibraryMessage() : LibraryEntry();
    const auto read = is_second ? &ReadFile2Feature : &ReadFileFeature;
    for (std::size_t size = 1; size < one.size(); ++size) {
      const std::string section = one + one.substr(0, size);
      const RecordedSymbols symbols = read(AsBytes(section));
      EXPECT_THAT(symbols.files, SizeIs(1)) << size;
      EXPECT_THAT(symbols.problem, HasSubstr("at byte " + std::to_string(one.size()))) << size;
    }
  }
}

TEST(RecordedSymbols, OfAnAbsurdNumberAreDamaged) {
  const std::string section =
      WithSize("a\0"s.append(Number(2, 4)) + Number(0, 8) + Number(0xffffffff, 4));
  const RecordedSymbols symbols = ReadFileFeature(AsBytes(section));
  EXPECT_THAT(symbols.files, IsEmpty());
  EXPECT_THAT(symbols.problem, HasSubstr("damaged"));
}

}  // namespace
}  // namespace perftape::simpleperf
