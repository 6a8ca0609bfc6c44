// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/perf_map_symbolizer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

constexpr char kMap[] = "7f0000001000 100 js::add\n";

class PerfMapSymbolizerTest : public testing::Test {
 protected:
  PerfMapSymbolizerTest() {
    const mode_t before = umask(022);
    path_ = dir_.Write("perf-4711.map", kMap);
    umask(before);
  }

  static Profile Jit(std::string filename, std::vector<std::uint32_t> pids) {
    return ProfileOf({.filename = std::move(filename),
                      .start = 0x7f0000000000,
                      .pids = std::move(pids),
                      .offsets = {0x1010}});
  }

  TempDir dir_;
  std::filesystem::path path_;
  PerfMapSymbolizer symbolizer_{dir_.path()};
};

TEST_F(PerfMapSymbolizerTest, NamesAnonymousMemoryOfTheProcessThatRanIt) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711}), 0x1010), "js::add");
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711}), 0x1100), "(no symbol)");
}

TEST_F(PerfMapSymbolizerTest, TakesTheProcessFromTheNameThatPerfGivesToSuchMemory) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("/tmp/perf-4711.map", {1}), 0x1010), "js::add");
}

TEST_F(PerfMapSymbolizerTest, NamesNothingThatSeveralProcessesShare) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711, 4712}), 0x1010), "(no symbol)");
}

TEST_F(PerfMapSymbolizerTest, FindsTheProcessOfAFrameThatCallsOthers) {
  ProfileBuilder builder;
  const MappingId jit = builder.Add(
      Mapping{.filename = builder.Add("//anon"), .build_id = {}, .start = 0x7f0000000000});
  const StackId outer = builder.Push({}, builder.Add(Location{.mapping = jit, .offset = {0x1010}}));
  const StackId leaf = builder.Push(outer, builder.Add(Location{.mapping = {}, .offset = {1}}));
  builder.Add(Sample{.stack = leaf,
                     .thread = builder.Add(Thread{.pid = 4711, .tid = 1, .comm = {}}),
                     .event = builder.Add(Event{}),
                     .count = 1});
  EXPECT_EQ(NameAt(symbolizer_, std::move(builder).Finish(), 0x1010), "js::add");
}

TEST_F(PerfMapSymbolizerTest, HasNoFileForAProcessWithoutAMap) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {99}), 0x1010), "(no file)");
}

TEST_F(PerfMapSymbolizerTest, DoesNotTrustAMapThatOthersMayWriteTo) {
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  const auto map = ReadTrustedPerfMap(path_, 4711);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, ErrorCode::kPermission);
  EXPECT_EQ(map.error().message, path_.native() + ": others may write to it");
}

TEST_F(PerfMapSymbolizerTest, DoesNotTrustAMapOfAnotherUser) {
  if (chown(path_.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give files away";
  const auto map = ReadTrustedPerfMap(path_, static_cast<std::uint32_t>(getpid()));
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().message, path_.native() + ": belongs to another user");
}

TEST_F(PerfMapSymbolizerTest, DoesNotFollowLinks) {
  std::filesystem::create_symlink(path_, dir_ / "perf-5.map");
  EXPECT_FALSE(ReadTrustedPerfMap(dir_ / "perf-5.map", 5));
}

TEST(IsJitMemory, IsWhatHasNoFile) {
  for (const char* filename : {"", "//anon", "[heap]", "[anon:v8]", "/memfd:jit (deleted)",
                               "/tmp/perf-12.map", "anon_inode:[perf_event]"}) {
    EXPECT_TRUE(IsJitMemory(filename)) << filename;
  }
  for (const char* filename :
       {"/usr/bin/node", "[vdso]", "/tmp/perf-12.mapper", "/tmp/perf-.map"}) {
    EXPECT_FALSE(IsJitMemory(filename)) << filename;
  }
}

}  // namespace
}  // namespace perftape
