// SPDX-License-Identifier: Apache-2.0
// Tests small shared objects that clang 19 and lld made from testdata/elf/linked.c for other
// processors: 32 bits, big endian, and linkage tables of real linkers. llvm-objdump 19 printed the
// expected addresses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/elf/slim.h"
#include "formats/elf/symbols.h"

namespace perftape::elf {
namespace {

using testing::ElementsAre;

ElfFile OpenLinked(const std::string& machine) {
  const char* source = std::getenv("PERFTAPE_SOURCE_DIR");  // set by CTest
  const std::filesystem::path root = source == nullptr ? "." : source;
  return ElfFile::Open(root / "testdata/elf" / ("linked-" + machine + ".so")).value();
}

// Returns "name@address+size" of each symbol.
std::vector<std::string> SymbolsOf(const ElfFile& file) {
  std::vector<std::string> symbols;
  const SymbolTable table = SymbolTable::Read(file);
  for (const Symbol& symbol : table.symbols()) {
    char range[64];
    std::snprintf(range, sizeof range, " %llx+%llx",
                  static_cast<unsigned long long>(symbol.start.value),
                  static_cast<unsigned long long>(symbol.size));
    symbols.push_back(std::string(symbol.name) + range);
  }
  return symbols;
}

TEST(LinkedFile, IsReadForI386) {
  EXPECT_THAT(SymbolsOf(OpenLinked("i386")),
              ElementsAre("work 11c0+3f", "local 1200+1e", "beta@plt 1230+10", "gamma_@plt 1240+10",
                          "alpha@plt 1250+10"));
}

TEST(LinkedFile, IsReadForArm) {
  EXPECT_THAT(SymbolsOf(OpenLinked("armv7a")),
              ElementsAre("work 11ec+2c", "local 1218+10", "beta@plt 1250+10", "gamma_@plt 1260+10",
                          "alpha@plt 1270+10"));
}

TEST(LinkedFile, IsReadForArm64) {
  EXPECT_THAT(SymbolsOf(OpenLinked("aarch64")),
              ElementsAre("work 12c8+44", "local 130c+18", "beta@plt 1350+10", "gamma_@plt 1360+10",
                          "alpha@plt 1370+10"));
}

TEST(LinkedFile, IsReadForRiscv) {
  EXPECT_THAT(SymbolsOf(OpenLinked("riscv32")),
              ElementsAre("work 11c4+3e", "local 1202+14", "beta@plt 1240+10", "gamma_@plt 1250+10",
                          "alpha@plt 1260+10"));
}

// Big endian. lld itself writes symbols for its linkage table entries.
TEST(LinkedFile, IsReadForPowerPc) {
  EXPECT_THAT(SymbolsOf(OpenLinked("powerpc")),
              ElementsAre("work 11c4+5c", "local 1220+24", "00000000.plt_pic32.beta 1244+10",
                          "00000000.plt_pic32.gamma_ 1254+10", "00000000.plt_pic32.alpha 1264+10"));
}

TEST(LinkedFile, HasTheSameSymbolsInItsSlimCopy) {
  for (const char* machine : {"i386", "armv7a", "aarch64", "riscv32", "powerpc"}) {
    const ElfFile file = OpenLinked(machine);
    auto copy = SlimCopy(file);
    if (!copy) continue;  // too small to leave anything out
    const ElfFile slim = ElfFile::Owning(*std::move(copy)).value();
    EXPECT_EQ(SymbolsOf(slim), SymbolsOf(file)) << machine;
    EXPECT_EQ(slim.ToImage({0x200}), file.ToImage({0x200})) << machine;
  }
}

}  // namespace
}  // namespace perftape::elf
