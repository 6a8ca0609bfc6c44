// SPDX-License-Identifier: Apache-2.0
#include "record/processes/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::HasSubstr;

class Lookup : public testing::Test {
 protected:
  Lookup() : path_before_(::getenv("PATH")) {}
  ~Lookup() override { SetPath(path_before_); }

  static void SetPath(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }
  std::string WriteProgram(std::string_view name, std::string_view text, mode_t mode = 0755) const {
    const std::filesystem::path file = dir_.Write(name, text);
    EXPECT_EQ(::chmod(file.c_str(), mode), 0);
    return file;
  }

  TempDir dir_;

 private:
  std::string path_before_;
};

TEST_F(Lookup, FindsTheFirstExecutableFileInThePath) {
  WriteProgram("a/tool", "#!/bin/sh\n", 0644);
  std::filesystem::create_directories(dir_ / "b/tool");
  const std::string second = WriteProgram("c/tool", "#!/bin/sh\n");
  WriteProgram("d/tool", "#!/bin/sh\n");
  std::string path = "/nonexistent";
  for (const char* directory : {"a", "b", "c", "d"}) path += ":" + (dir_ / directory).native();
  SetPath(path);
  EXPECT_EQ(FindExecutable("tool").value().path, second);
}

TEST_F(Lookup, TreatsNamesWithSlashAsPaths) {
  const std::string tool = WriteProgram("tool", "#!/bin/sh\n");
  SetPath("/nonexistent");
  EXPECT_EQ(FindExecutable(tool).value().path, tool);
  EXPECT_THAT(FindExecutable(tool + "s"), FailsWith(ErrorCode::kNotFound, HasSubstr(tool + "s")));
}

TEST_F(Lookup, ReportsWhyNothingCanBeRun) {
  const std::string plain = WriteProgram("plain", "text\n", 0644);
  SetPath(dir_.path());
  EXPECT_THAT(FindExecutable("absent"),
              FailsWith(ErrorCode::kNotFound, "absent: no such command in $PATH"));
  EXPECT_THAT(FindExecutable("plain"), FailsWith(ErrorCode::kPermission, HasSubstr(plain)));
  EXPECT_THAT(FindExecutable(plain), FailsWith(ErrorCode::kPermission, HasSubstr(plain)));
  EXPECT_THAT(FindExecutable(dir_.path()), FailsWith(ErrorCode::kIo, HasSubstr("directory")));
  EXPECT_THAT(FindExecutable(""), FailsWith(ErrorCode::kNotFound, HasSubstr("empty")));
}

TEST_F(Lookup, DistinguishesTextFromUnknownFormats) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(FindExecutable(WriteProgram("text", "echo hello\n"))->may_be_script);
  EXPECT_TRUE(FindExecutable(WriteProgram("empty", ""))->may_be_script);
  EXPECT_TRUE(FindExecutable(WriteProgram("selfextracting", "tail $0\n\0\1"sv))->may_be_script);
  EXPECT_FALSE(FindExecutable(WriteProgram("binary", "MZ\0\1"sv))->may_be_script);
}

TEST(ExitStatusOfFailedExec, IsThatOfAShell) {
  EXPECT_EQ(ExitStatusOfFailedExec(ErrorCode::kNotFound), 127);
  EXPECT_EQ(ExitStatusOfFailedExec(ErrorCode::kPermission), 126);
  EXPECT_EQ(ExitStatusOfFailedExec(ErrorCode::kIo), 126);
}

}  // namespace
}  // namespace perftape::record
