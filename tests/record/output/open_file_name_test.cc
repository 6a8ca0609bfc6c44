// SPDX-License-Identifier: Apache-2.0
#include "record/output/open_file_name.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "formats/base/file.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

TEST(NameOfOpenFile, FollowsItUntilItIsDeleted) {
  const TempDir dir;
  const std::filesystem::path directory = std::filesystem::canonical(dir.path());
  const UniqueFd file(::open(dir.Write("x", "text").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(NameOfOpenFile(file.get()), directory / "x");
  std::filesystem::rename(dir / "x", dir / "x (deleted)");
  dir.Write("x", "another");
  EXPECT_EQ(NameOfOpenFile(file.get()), directory / "x (deleted)");
  std::filesystem::remove(dir / "x (deleted)");
  EXPECT_EQ(NameOfOpenFile(file.get()), std::nullopt);
}

}  // namespace
}  // namespace perftape::record
