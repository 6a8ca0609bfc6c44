// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/index_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace perftape::elf {
namespace {

namespace fs = std::filesystem;

const BuildId kOne = *BuildId::FromHex("1111111111111111111111111111111111111111");
const BuildId kTwo = *BuildId::FromHex("2222222222222222222222222222222222222222");

fs::path FileOf(const fs::path& directory, const BuildId& id) {
  return directory / (id.hex() + ".lines");
}

std::string Loaded(const IndexCache& cache, const BuildId& id) {
  return std::string(AsText(cache.Load(id).body()));
}

TEST(IndexCache, GivesBackWhatWasStored) {
  const TempDir temp;
  const IndexCache cache(temp.path() / "made" / "perftape", IndexType::kLines);
  EXPECT_EQ(Loaded(cache, kOne), "");
  cache.Store(kOne, AsBytes("lines of one"));
  EXPECT_EQ(Loaded(cache, kOne), "lines of one");
  EXPECT_EQ(Loaded(cache, kTwo), "");
}

TEST(IndexCache, IgnoresWhatIsDamagedAtAnyByte) {
  const TempDir temp;
  const IndexCache cache(temp.path(), IndexType::kLines);
  cache.Store(kOne, AsBytes("lines of one"));
  const auto size = fs::file_size(FileOf(temp.path(), kOne));
  for (std::uintmax_t i = 0; i < size; ++i) {
    std::fstream file(FileOf(temp.path(), kOne));
    file.seekg(static_cast<std::streamoff>(i));
    const char good = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(i));
    file.put(static_cast<char>(good ^ 1)).flush();
    EXPECT_EQ(Loaded(cache, kOne), "") << i;
    file.seekp(static_cast<std::streamoff>(i));
    file.put(good).flush();
  }
  EXPECT_EQ(Loaded(cache, kOne), "lines of one");
}

TEST(IndexCache, IgnoresWhatBelongsToAnotherBinary) {
  const TempDir temp;
  const IndexCache cache(temp.path(), IndexType::kLines);
  cache.Store(kOne, AsBytes("lines of one"));
  fs::copy(FileOf(temp.path(), kOne), FileOf(temp.path(), kTwo));
  EXPECT_EQ(Loaded(cache, kTwo), "");
}

TEST(IndexCache, IgnoresWhatOthersMayWriteTo) {
  const TempDir temp;
  const IndexCache cache(temp.path(), IndexType::kLines);
  cache.Store(kOne, AsBytes("lines of one"));
  fs::permissions(FileOf(temp.path(), kOne), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(Loaded(cache, kOne), "");
}

TEST(IndexCache, RemovesWhatWasNotUsedForLongest) {
  const TempDir temp;
  const IndexCache cache(temp.path(), IndexType::kLines, 200);
  cache.Store(kOne, AsBytes(std::string(100, '1')));
  const fs::path one = FileOf(temp.path(), kOne);
  fs::last_write_time(one, fs::last_write_time(one) - std::chrono::hours(1));
  cache.Store(kTwo, AsBytes(std::string(100, '2')));
  EXPECT_EQ(Loaded(cache, kOne), "");
  EXPECT_EQ(Loaded(cache, kTwo), std::string(100, '2'));
}

TEST(IndexCache, SeparatesTheTypesOfOneBinary) {
  const TempDir temp;
  const IndexCache lines(temp.path(), IndexType::kLines);
  const IndexCache tables(temp.path(), IndexType::kUnwindTable);
  lines.Store(kOne, AsBytes("lines of one"));
  EXPECT_EQ(Loaded(tables, kOne), "");
  tables.Store(kOne, AsBytes("table of one"));
  EXPECT_EQ(Loaded(lines, kOne), "lines of one");
  EXPECT_EQ(Loaded(tables, kOne), "table of one");
}

TEST(IndexCache, CountsAllTypesTogether) {
  const TempDir temp;
  IndexCache(temp.path(), IndexType::kLines).Store(kOne, AsBytes(std::string(100, '1')));
  const fs::path one = FileOf(temp.path(), kOne);
  fs::last_write_time(one, fs::last_write_time(one) - std::chrono::hours(1));
  const IndexCache tables(temp.path(), IndexType::kUnwindTable, 200);
  tables.Store(kTwo, AsBytes(std::string(100, '2')));
  EXPECT_FALSE(fs::exists(one));
  EXPECT_EQ(Loaded(tables, kTwo), std::string(100, '2'));
}

TEST(IndexCache, LeavesNothingElseBehind) {
  const TempDir temp;
  const IndexCache cache(temp.path(), IndexType::kLines);
  cache.Store(kOne, AsBytes("first"));
  cache.Store(kOne, AsBytes("second"));
  EXPECT_EQ(Loaded(cache, kOne), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace perftape::elf
