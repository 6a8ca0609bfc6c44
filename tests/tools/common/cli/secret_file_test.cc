// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/secret_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;

std::string FileWithMode(const TempDir& dir, mode_t mode) {
  const std::string path = dir.path() / "secret";
  std::ofstream(path) << "word";
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(SecretFile, MayBeReadByItsOwnerAndItsGroup) {
  const TempDir dir;
  for (const mode_t mode : {0600U, 0640U, 0660U}) {
    EXPECT_EQ(WrongPermissions("secret", mode), std::nullopt) << mode;
    EXPECT_THAT(ReadSecretFile(FileWithMode(dir, mode)), Holds(std::string("word"))) << mode;
  }
}

TEST(SecretFile, IsRefusedIfOthersCanReadOrWriteIt) {
  const TempDir dir;
  for (const mode_t mode : {0604U, 0644U, 0602U}) {
    EXPECT_THAT(WrongPermissions("secret", mode).value_or(""),
                HasSubstr("secret: other users can read this secret: 'chmod 600 secret'"))
        << mode;
    const std::string path = FileWithMode(dir, mode);
    EXPECT_THAT(ReadSecretFile(path),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("'chmod 600 " + path)))
        << mode;
    EXPECT_THAT(ReadSmallFile(path), Holds(std::string("word"))) << mode;
  }
}

}  // namespace
}  // namespace perftape::cli
