// SPDX-License-Identifier: Apache-2.0
#include "record/events/tracefs.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

class TracefsTest : public testing::Test {
 protected:
  // Writes a table of mounts with this line.
  std::filesystem::path Mounts(const std::string& type, const std::filesystem::path& path) {
    const std::filesystem::path file = dir_.path() / "mounts";
    std::ofstream(file) << "proc /proc proc rw 0 0\nnone " << path.string() << " " << type
                        << " rw 0 0\n";
    return file;
  }

  TempDir dir_;
};

TEST_F(TracefsTest, IsFoundWhereItIsMounted) {
  std::filesystem::create_directories(dir_.path() / "t/events");
  EXPECT_EQ(Tracefs::Find(Mounts("tracefs", dir_.path() / "t")).value().root(), dir_.path() / "t");
}

TEST_F(TracefsTest, IsFoundInDebugfs) {
  std::filesystem::create_directories(dir_.path() / "d/tracing/events");
  EXPECT_EQ(Tracefs::Find(Mounts("debugfs", dir_.path() / "d")).value().root(),
            dir_.path() / "d/tracing");
}

TEST_F(TracefsTest, SaysHowToMountIt) {
  EXPECT_THAT(Tracefs::Find(Mounts("tmpfs", dir_.path())), FailsWith(ErrorCode::kUnsupported));
}

TEST_F(TracefsTest, SaysThatItCannotBeRead) {
  EXPECT_THAT(Tracefs::Find(Mounts("tracefs", dir_.path() / "none")),
              FailsWith(ErrorCode::kPermission));
}

TEST_F(TracefsTest, ListsTracepointsSorted) {
  for (const char* name : {"events/b/y", "events/b/x", "events/a/z", "events/b/no"}) {
    std::filesystem::create_directories(dir_.path() / name);
    const std::filesystem::path directory = dir_.path() / name;
    if (directory.filename() != "no") std::ofstream(directory / "id") << 1;
    std::ofstream(directory.parent_path() / "enable") << 0;
  }
  const Tracefs tracefs(dir_.path());
  EXPECT_THAT(tracefs.Subsystems(), testing::ElementsAre("a", "b"));
  EXPECT_THAT(tracefs.TracepointsOf("b"), testing::ElementsAre("x", "y"));
  EXPECT_THAT(tracefs.TracepointsOf("c"), testing::IsEmpty());
}

}  // namespace
}  // namespace perftape::record
