// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/vdso.h"

#include <gtest/gtest.h>

#include "formats/elf/symbols.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

std::string NameIn(const std::filesystem::path& directory, std::string build_id,
                   std::string not_local = "recorded elsewhere") {
  ProfileOrigin recording(ProfileOrigin::Machine{.other_than_here = std::move(not_local)});
  const SymbolOptions options;
  RecordingSources sources(recording, options);
  VdsoImages images({directory});
  VdsoSymbolizer symbolizer(images, sources);
  return NameAt(symbolizer, ProfileOf({.filename = "[vdso]", .build_id = std::move(build_id)}),
                0x1100);
}

TEST(VdsoSymbolizer, FindsASavedOneByBuildId) {
  const TempDir dir;
  dir.Write(".build-id/61/6263/vdso", SmallElf("abc"));
  EXPECT_EQ(NameIn(dir.path(), "616263"), "spin");
  EXPECT_EQ(NameIn(dir.path(), "78797a"), "(no file)");
  EXPECT_EQ(NameIn(dir.path(), ""), "(no file)");
}

TEST(VdsoSymbolizer, RefusesThatOfAnotherKernel) {
  const TempDir dir;
  dir.Write("[vdso]/616263/vdso", SmallElf("xyz"));
  EXPECT_EQ(NameIn(dir.path(), "616263"), "(wrong build id)");
  EXPECT_EQ(NameIn(dir.path(), "616263", {}), "(wrong build id)");
}

TEST(ReadOwnVdso, HoldsTheClockFunctions) {
  const auto image = ReadOwnVdso();
  if (!image) GTEST_SKIP() << image.error().message;
  const auto file = elf::ElfFile::FromBytes(*image);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(elf::SymbolTable::Read(*file).symbols().empty());
}

}  // namespace
}  // namespace perftape::symbolize
