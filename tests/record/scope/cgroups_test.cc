// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroups.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/record/records.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

// A mount whose root is /pod/ID of the hierarchy.
class CgroupPathsTest : public testing::Test {
 protected:
  CgroupPathsTest() {
    std::filesystem::create_directories(temp_.path() / "web/inner");
    id_ = CgroupIdOf(temp_.path() / "web/inner").value();
  }

  TempDir temp_;
  std::uint64_t id_ = 0;
  CgroupPaths paths_{{.mount = temp_.path()}};
};

TEST_F(CgroupPathsTest, AreThoseBelowTheMount) {
  EXPECT_EQ(paths_.PathBelowMount({.path = "/pod/ID/web/inner", .id = id_}), "/web/inner");
  EXPECT_EQ(paths_.PathBelowMount({.path = "/web/inner", .id = id_}), "/web/inner");
}

TEST_F(CgroupPathsTest, AreTranslatedAfterTheirEndIfOneWasSeen) {
  EXPECT_EQ(paths_.PathBelowMount({.path = "/pod/ID/gone", .id = 1}), "/pod/ID/gone");
  paths_.PathBelowMount({.path = "/pod/ID/web/inner", .id = id_});
  EXPECT_EQ(paths_.PathBelowMount({.path = "/pod/ID/gone", .id = 1}), "/gone");
  EXPECT_EQ(paths_.PathBelowMount({.path = "/pod/IDX", .id = 1}), "/pod/IDX");
  EXPECT_EQ(paths_.PathBelowMount({.path = "/other/web", .id = 1}), "/other/web");
}

TEST_F(CgroupPathsTest, ReplaceThoseInRecords) {
  std::vector<std::byte> rewritten;
  const auto record = RecordOf(perfdata::Cgroup{.id = id_, .path = "/pod/ID/web/inner"}, 77);
  ASSERT_TRUE(paths_.Rewrite(record, kTestFormat, rewritten));
  const auto records = RecordsIn(rewritten);
  EXPECT_EQ(perfdata::Decode<perfdata::Cgroup>(records.at(0), kTestFormat)->path, "/web/inner");
  EXPECT_EQ(perfdata::DecodeSampleId(records.at(0), kTestFormat).time, 77U);
  const auto other = RecordOf(perfdata::Comm{.pid = 1, .tid = 1, .comm = "x"});
  EXPECT_FALSE(paths_.Rewrite(other, kTestFormat, rewritten));
}

}  // namespace
}  // namespace perftape::record
