// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroup_watch.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/scope/cgroups.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Directories stand for cgroups: both have an inode of their own.
class CgroupWatchTest : public testing::Test {
 protected:
  CgroupWatchTest() {
    Make();
    scope_.recorded = CgroupHierarchy{.mount = root_};
    scope_.cgroups = {{.path = "/svc", .id = CgroupIdOf(root_ / "svc").value()}};
  }
  void Make() { std::filesystem::create_directory(root_ / "svc"); }
  // The inode of a directory may be used again at once, that of a cgroup is not.
  void Remove() { std::filesystem::rename(root_ / "svc", root_ / std::to_string(++removed_)); }

  CgroupWatch Watch(Status outcome = {}) {
    return CgroupWatch(scope_, [this, outcome](std::uint32_t index, const OpenCgroup& cgroup) {
      EXPECT_EQ(index, 0U);
      followed_.push_back(cgroup.id);
      return outcome;
    });
  }

  TempDir scratch_;
  const std::filesystem::path root_ = scratch_.path();
  Scope scope_;
  std::vector<std::uint64_t> followed_;
  int removed_ = 0;
};

TEST_F(CgroupWatchTest, FollowsAPathToItsNewCgroup) {
  CgroupWatch watch = Watch();
  watch.Check(1 * kSecond);
  EXPECT_THAT(watch.Gaps(kSecond), IsEmpty());
  Remove();
  watch.Check(2 * kSecond);
  EXPECT_THAT(watch.Gaps(kSecond),
              ElementsAre("the cgroup /svc was removed after 1.0 s, and not created again"));
  EXPECT_THAT(followed_, IsEmpty());
  Make();
  watch.Check(5 * kSecond / 2);
  EXPECT_THAT(followed_, ElementsAre(CgroupIdOf(root_ / "svc").value()));
  EXPECT_THAT(watch.Gaps(kSecond),
              ElementsAre(AllOf(HasSubstr("(1 time)"), HasSubstr("0.5 s at most"))));
  Remove();
  Make();
  watch.Check(3 * kSecond);
  EXPECT_EQ(followed_.size(), 2U);
  EXPECT_THAT(watch.Gaps(kSecond),
              ElementsAre(AllOf(HasSubstr("(2 times)"), HasSubstr("1.0 s at most"))));
}

TEST_F(CgroupWatchTest, KnowsNoTimeBeforeTheFirstCheck) {
  CgroupWatch watch = Watch();
  Remove();
  Make();
  watch.Check(5 * kSecond);
  EXPECT_THAT(watch.Gaps(kSecond), ElementsAre(HasSubstr("0.0 s at most")));
}

TEST_F(CgroupWatchTest, TellsWhyANewCgroupIsNotRecorded) {
  CgroupWatch watch = Watch(Fail(ErrorCode::kIo, "no"));
  Remove();
  Make();
  watch.Check(2 * kSecond);
  EXPECT_THAT(watch.Gaps(kSecond), ElementsAre(HasSubstr("was not recorded: no")));
}

}  // namespace
}  // namespace perftape::record
