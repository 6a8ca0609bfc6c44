// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/elf_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/elf/symbols.h"

namespace perftape::elf {
namespace {

using Names = std::vector<std::string_view>;

// Returns the name that our own reader finds at an offset of the file.
std::string NameAt(const std::vector<std::byte>& image, std::uint64_t offset) {
  const ElfFile file = ElfFile::FromBytes(image).value();
  const SymbolTable symbols = SymbolTable::Read(file);
  const Symbol* symbol = symbols.Find(*file.ToImage(FileOffset{offset}));
  return symbol == nullptr ? "?" : std::string(symbol->name);
}

TEST(NamedFunctionsFile, NamesEachOfItsAddresses) {
  const std::vector<std::byte> image = NamedFunctionsFile(Names{"main", "f(int, char)", "g"});
  EXPECT_EQ(NameAt(image, kTextOffset), "main");
  EXPECT_EQ(NameAt(image, kTextOffset + kFunctionSize), "f(int, char)");
  EXPECT_EQ(NameAt(image, kTextOffset + 3 * kFunctionSize - 1), "g");
}

TEST(NamedFunctionsFile, HasABuildIdOfItsNames) {
  const Names names = {"main", "f"};
  const std::vector<std::byte> image = NamedFunctionsFile(names);
  EXPECT_EQ(ElfFile::FromBytes(image)->build_id(), NamedFunctionsId(names));
  EXPECT_EQ(NamedFunctionsId(names).size, 20);
}

TEST(NamedFunctionsFile, HasAnotherIdForOtherNames) {
  EXPECT_NE(NamedFunctionsId(Names{"ab", "c"}), NamedFunctionsId(Names{"a", "bc"}));
  EXPECT_NE(NamedFunctionsId(Names{"a", "b"}), NamedFunctionsId(Names{"b", "a"}));
  EXPECT_NE(NamedFunctionsId(Names{}), NamedFunctionsId(Names{""}));
}

TEST(NamedFunctionsFile, HasBytesForItsCode) {
  const std::vector<std::byte> image = NamedFunctionsFile(Names{"main"});
  for (std::uint64_t i = 0; i < kFunctionSize; ++i) {
    EXPECT_EQ(image.at(kTextOffset + i), std::byte{0xcc});
  }
}

}  // namespace
}  // namespace perftape::elf
