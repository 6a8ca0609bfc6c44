// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/binary_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/elf_builder.h"
#include "tests/support/frame_builder.h"

namespace perftape::offline_unwind {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using unwind::FrameBuilder;
using unwind::FramesBy;

// Finds one file, by any path that begins with "/bin", and counts the calls.
struct Finder {
  explicit Finder(const std::vector<std::byte>& image)
      : file(elf::ElfFile::FromBytes(image).value()) {}

  BinaryFinder function() {
    return [this](const std::string& path, const BuildId&) -> Result<const elf::ElfFile*> {
      ++calls;
      if (path.starts_with("/bin")) return &file;
      return Fail(ErrorCode::kNotFound, "no such file");
    };
  }

  elf::ElfFile file;
  int calls = 0;
};

TEST(BinaryTables, BuildsATableOnce) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), FrameBuilder::kText, 0x20, "");
  const std::vector<std::byte> image = frames.Program().Build();
  Finder finder(image);
  BinaryTables tables(finder.function(), {});
  const BinaryTable& table = tables.TableOf("/bin/app", {});
  EXPECT_EQ(table.frames_by, FramesBy::kTable);
  EXPECT_FALSE(table.table.empty());
  EXPECT_EQ(&tables.TableOf("/bin/app", {}), &table);
  EXPECT_EQ(finder.calls, 1);
  EXPECT_THAT(tables.Missing(), IsEmpty());
}

TEST(BinaryTables, ChoosesTheFramePointerByTheMapping) {
  const std::vector<std::byte> image = SmallElf("");  // has no call frame information
  Finder finder(image);
  BinaryTables tables(finder.function(), {});
  EXPECT_EQ(tables.TableOf("/bin/go", {}).frames_by, FramesBy::kFramePointer);
  EXPECT_EQ(tables.TableOf("//anon", {}).frames_by, FramesBy::kFramePointer);
  EXPECT_EQ(tables.TableOf("/tmp/jit-7.dump", {}).frames_by, FramesBy::kFramePointer);
  EXPECT_EQ(finder.calls, 1);
}

TEST(BinaryTables, NamesWhatIsMissing) {
  const std::vector<std::byte> image = SmallElf("");
  Finder finder(image);
  BinaryTables tables(finder.function(), {});
  EXPECT_EQ(tables.TableOf("/opt/b", {}).frames_by, FramesBy::kUnknown);
  tables.TableOf("/opt/a", {});
  tables.TableOf("/opt/b", {});
  EXPECT_THAT(tables.Missing(), ElementsAre("/opt/a: no such file", "/opt/b: no such file"));
}

}  // namespace
}  // namespace perftape::offline_unwind
