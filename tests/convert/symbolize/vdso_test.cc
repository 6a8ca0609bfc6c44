// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/vdso.h"

#include <gtest/gtest.h>

#include "formats/elf/symbols.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/elf_builder.h"

namespace perftape {
namespace {

TEST(VdsoSymbolizer, NamesPlacesInTheImage) {
  VdsoSymbolizer symbolizer(SmallElf("abc"));
  EXPECT_EQ(NameAt(symbolizer, ProfileOf({.filename = "[vdso]"}), 0x1100), "spin");
  EXPECT_EQ(NameAt(symbolizer, ProfileOf({.filename = "[vdso]", .build_id = "616263"}), 0x1100),
            "spin");
}

TEST(VdsoSymbolizer, RefusesThatOfAnotherKernel) {
  VdsoSymbolizer symbolizer(SmallElf("abc"));
  EXPECT_EQ(NameAt(symbolizer, ProfileOf({.filename = "[vdso]", .build_id = "78797a"}), 0x1100),
            "(wrong build id)");
}

TEST(VdsoSymbolizer, SaysThatAnImageIsNone) {
  VdsoSymbolizer symbolizer({});
  EXPECT_EQ(NameAt(symbolizer, ProfileOf({.filename = "[vdso]"}), 0), "vdso: not an ELF file");
}

TEST(ReadOwnVdso, HoldsTheClockFunctions) {
  const auto image = ReadOwnVdso();
  if (!image) GTEST_SKIP() << image.error().message;
  const auto file = elf::ElfFile::FromBytes(*image);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(elf::SymbolTable::Read(*file).symbols().empty());
}

}  // namespace
}  // namespace perftape
