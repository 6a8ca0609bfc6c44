// SPDX-License-Identifier: Apache-2.0
// Tests small programs of gcc and clang, made from
//
//   static inline __attribute__((always_inline)) int twice(int x) { return x * 2 + 1; }
//   int once(int a) { return a > 3 ? twice(a) : twice(twice(a)) - a; }
//   int _start(void) { return once(4) + twice(9); }
//
// tests/interop/source_lines_test.py compares larger ones with llvm-symbolizer.
#include "formats/dwarf/source_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::dwarf {
namespace {

using ::testing::IsEmpty;

elf::ElfFile OpenProgram(const std::string& name) {
  const char* root = std::getenv("PERFTAPE_SOURCE_DIR");
  auto file = elf::ElfFile::Open(std::string(root == nullptr ? "." : root) +
                                 "/tests/fuzz/seeds/dwarf/" + name);
  if (!file) throw std::runtime_error(file.error().message);
  return *std::move(file);
}

std::vector<ImageAddress> CodeOf(const elf::ElfFile& file) {
  std::vector<ImageAddress> code;
  const elf::Section* text = file.FindSection(".text");
  for (std::uint64_t i = 0; i < text->size; ++i) code.push_back({text->address + i});
  return code;
}

using Frames = std::vector<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>>;

Frames FramesAt(SourceIndex& index, ImageAddress address) {
  Frames frames;
  for (const CallFrame& frame : index.Find(address)) {
    frames.emplace_back(frame.function, frame.filename, frame.line, frame.start_line);
  }
  return frames;
}

class SourceIndexOf : public ::testing::TestWithParam<const char*> {};
class SourceIndexOfGcc : public SourceIndexOf {};

TEST_P(SourceIndexOfGcc, FindsWhatWasInlinedAndWhereItWasCalled) {
  const elf::ElfFile file = OpenProgram(GetParam());
  const auto index = SourceIndex::Open(file, file, {});
  ASSERT_NE(index, nullptr);
  int inlined = 0;
  for (const ImageAddress address : CodeOf(file)) {
    const Frames frames = FramesAt(*index, address);
    if (frames.size() != 2 || std::get<0>(frames[0]) != "twice") continue;
    ++inlined;
    EXPECT_EQ(frames[0], std::make_tuple("twice", "/src/s.c", 1U, 1U));
    EXPECT_EQ(frames[1], std::make_tuple("once", "/src/s.c", 2U, 2U));
  }
  EXPECT_GT(inlined, 0);
  EXPECT_EQ(index->problem(), "");
}

TEST_P(SourceIndexOf, AnswersTheSameWhenItIsRestored) {
  const elf::ElfFile file = OpenProgram(GetParam());
  const auto built = SourceIndex::Open(file, file, {});
  built->Prepare(CodeOf(file));
  ASSERT_TRUE(built->has_built());
  const std::vector<std::byte> saved = built->Save();

  const auto restored = SourceIndex::Open(file, file, {});
  restored->Restore(saved);
  for (const ImageAddress address : CodeOf(file)) {
    EXPECT_EQ(FramesAt(*restored, address), FramesAt(*built, address));
  }
  EXPECT_FALSE(restored->has_built());
}

TEST_P(SourceIndexOf, RejectsATruncatedSavedIndex) {
  const elf::ElfFile file = OpenProgram(GetParam());
  const auto built = SourceIndex::Open(file, file, {});
  built->Prepare(CodeOf(file));
  const std::vector<std::byte> saved = built->Save();
  const auto other = SourceIndex::Open(file, file, {});
  for (std::size_t size = 0; size < saved.size(); ++size) other->Restore(Bytes(saved).first(size));
  for (const ImageAddress address : CodeOf(file)) {
    EXPECT_EQ(FramesAt(*other, address), FramesAt(*built, address));
  }
  EXPECT_TRUE(other->has_built());
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, SourceIndexOfGcc,
                         ::testing::Values("gcc3", "gcc4", "gcc5", "gcc64", "gccz"));
INSTANTIATE_TEST_SUITE_P(EveryVersion, SourceIndexOf,
                         ::testing::Values("gcc3", "gcc4", "gcc5", "gcc64", "gccz", "clang4",
                                           "clang5"));

// From a program of GCC 12 with these functions, all inlined:
//
//   namespace shop { Cart::alpha(int) calls Table::find with two lambdas of one signature;
//   Cart::beta(int) has a local struct and a generic lambda; a third lambda is in no function }
TEST(SourceIndex, NamesTheScopeOfAFunctionWithoutLinkageName) {
  const elf::ElfFile file = OpenProgram("gcc-scopes5");
  const auto index = SourceIndex::Open(file, file, {});
  std::set<std::string> names;
  for (const ImageAddress address : CodeOf(file)) {
    for (const CallFrame& frame : index->Find(address)) {
      std::string name(frame.enclosing);
      if (!name.empty()) name += "::";
      names.insert(name.append(frame.function));
    }
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf(
                         {"_ZN4shop4Cart5alphaEi::{lambda(long)#1}::operator()",
                          "_ZN4shop4Cart5alphaEi::{lambda(long)#2}::operator()",
                          "_ZN4shop4Cart4betaEi::{lambda#1}::operator()<int>",
                          "_ZN4shop4Cart4betaEi::Local::get",
                          "shop::(anonymous namespace)::{lambda(char const*, unsigned long) at "
                          "l.cc:24:13}::operator()",
                          "shop::Table::find<shop::Cart::alpha(int)::<lambda(long)> >"}));
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("operator()")));
}

// The entries of .debug_aranges of "gcc5", a pair and the pair of zeros, are replaced.
std::size_t FramesWithRanges(std::uint64_t start_factor, std::uint64_t size_divisor, bool is_last) {
  const elf::ElfFile original = OpenProgram("gcc5");
  std::vector<std::byte> bytes(original.image().begin(), original.image().end());
  const std::uint64_t pairs = original.FindSection(".debug_aranges")->offset + 16;
  std::uint64_t pair[2];
  std::memcpy(pair, bytes.data() + pairs, sizeof(pair));
  pair[0] *= start_factor;
  pair[1] /= size_divisor;
  const std::uint64_t zeros[2] = {};
  std::memcpy(bytes.data() + pairs, is_last ? zeros : pair, sizeof(pair));
  std::memcpy(bytes.data() + pairs + sizeof(pair), is_last ? pair : zeros, sizeof(pair));
  const auto file = elf::ElfFile::FromBytes(bytes);
  const auto index = SourceIndex::Open(*file, *file, {});
  std::size_t frames = 0;
  for (const ImageAddress address : CodeOf(*file)) frames += index->Find(address).size();
  return frames;
}

TEST(SourceIndex, ReadsBeyondAPairOfZerosAndRangesThatAreMissing) {
  const std::size_t all = FramesWithRanges(1, 1, false);
  EXPECT_GT(all, 0U);
  EXPECT_EQ(FramesWithRanges(1, 1, true), all);   // as llvm-bolt writes them
  EXPECT_EQ(FramesWithRanges(0, 1, false), all);  // no code: the root entry has it
  EXPECT_EQ(FramesWithRanges(1, 2, false), all);  // some of the code
}

TEST(SourceIndex, ReportsAMissingSplitFile) {
  const elf::ElfFile file = OpenProgram("clang-split5");
  const auto index = SourceIndex::Open(file, file, {});
  ASSERT_NE(index, nullptr);
  const std::vector<CallFrame> frames = index->Find(CodeOf(file)[0]);
  ASSERT_EQ(frames.size(), 1U);  // the line is still found
  EXPECT_EQ(frames[0].function, "");
  EXPECT_EQ(frames[0].filename, "/src/s.c");
  EXPECT_THAT(index->problem(), ::testing::HasSubstr(".dwo: not found (/"));
  EXPECT_THAT(index->problem(), ::testing::HasSubstr("outside the directories that are searched"));
}

TEST(SourceIndex, LooksForSplitFilesOnlyInWhatIsSearched) {
  const elf::ElfFile file = OpenProgram("clang-split5");
  const TempDir dir;
  const auto index = SourceIndex::Open(file, file, {.searched = {.roots = {dir.path()}}});
  ASSERT_NE(index, nullptr);
  index->Prepare(CodeOf(file));
  EXPECT_THAT(index->problem(), ::testing::EndsWith(".dwo: not found"));
}

TEST(SourceIndex, FindsNothingOutsideTheCode) {
  const elf::ElfFile file = OpenProgram("gcc5");
  const auto index = SourceIndex::Open(file, file, {});
  EXPECT_THAT(index->Find({0}), IsEmpty());
  EXPECT_THAT(index->Find({~std::uint64_t{0}}), IsEmpty());
}

TEST(SourceIndex, IsNoneWithoutDebugInformation) {
  const std::vector<std::byte> image = ElfBuilder().Build();
  const auto file = elf::ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  EXPECT_EQ(SourceIndex::Open(*file, *file, {}), nullptr);
}

}  // namespace
}  // namespace perftape::dwarf
