// SPDX-License-Identifier: Apache-2.0
#include "record/scope/find_cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kIdA(64, 'a'), kIdB = "ab" + std::string(62, 'b'), kIdC(64, 'c');

// Directories that look like those of cgroups.
class CgroupTree : public testing::Test {
 protected:
  CgroupTree() {
    hierarchies_ = {{.mount = temp_.path() / "unified", .is_perfs = true},
                    {.mount = temp_.path() / "cpu", .controllers = {"cpu"}}};
    for (const CgroupHierarchy& hierarchy : hierarchies_) {
      std::filesystem::create_directories(hierarchy.mount);
    }
  }

  void Add(std::string_view hierarchy, const std::string& path) {
    std::filesystem::create_directories(temp_.path() / hierarchy / path);
  }
  static std::vector<std::string> PathsOf(const Result<FoundCgroups>& found) {
    std::vector<std::string> paths;
    if (!found) return {found.error().message};
    for (const CgroupDirectory& cgroup : found->cgroups) paths.push_back(cgroup.path);
    return paths;
  }
  Result<FoundCgroups> Cgroups(std::vector<std::string> names) {
    return FindCgroups(hierarchies_, names);
  }
  Result<FoundCgroups> Containers(std::vector<std::string> ids) {
    return FindContainers(hierarchies_, ids);
  }

  TempDir temp_;
  std::vector<CgroupHierarchy> hierarchies_;
};

TEST_F(CgroupTree, FindsAPathBelowTheMount) {
  Add("unified", "system.slice/cron.service");
  for (const char* name : {"/system.slice/cron.service", "system.slice/cron.service/",
                           "./system.slice//cron.service"}) {
    EXPECT_THAT(PathsOf(Cgroups({name})), ElementsAre("/system.slice/cron.service")) << name;
  }
  EXPECT_THAT(PathsOf(Cgroups({"/"})), ElementsAre("/"));
}

TEST_F(CgroupTree, FindsAnAbsolutePathAndAnId) {
  Add("unified", "web/inner");
  const std::string path = temp_.path() / "unified/web";
  EXPECT_THAT(PathsOf(Cgroups({path})), ElementsAre("/web"));
  EXPECT_THAT(PathsOf(Cgroups({temp_.path() / "unified"})), ElementsAre("/"));
  const std::uint64_t id = CgroupIdOf(path).value();
  EXPECT_THAT(PathsOf(Cgroups({std::to_string(id)})), ElementsAre("/web"));
  EXPECT_EQ(Cgroups({std::to_string(id)})->cgroups.front().id, id);
}

TEST_F(CgroupTree, SearchesVersionOneLast) {
  Add("unified", "both");
  Add("cpu", "both");
  Add("cpu", "only");
  EXPECT_TRUE(Cgroups({"both"})->hierarchy.is_v2());
  EXPECT_FALSE(Cgroups({"only"})->hierarchy.is_v2());
  EXPECT_THAT(PathsOf(Cgroups({"both", "only"})), ElementsAre("/both", "/only"));
  EXPECT_FALSE(Cgroups({"both", "only"})->hierarchy.is_v2());
  Add("unified", "other");
  EXPECT_THAT(Cgroups({"other", "only"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("different cgroup hierarchies")));
}

TEST_F(CgroupTree, KeepsOnlyTheOutermost) {
  Add("unified", "a/b/c");
  Add("unified", "ab");
  EXPECT_THAT(PathsOf(Cgroups({"a/b/c", "a/b", "ab"})), ElementsAre("/a/b", "/ab"));
}

TEST_F(CgroupTree, SuggestsWhatIsNear) {
  Add("unified", "database");
  EXPECT_THAT(
      Cgroups({"databse"}),
      FailsWith(ErrorCode::kNotFound, AllOf(HasSubstr("--cgroup 'databse': no such cgroup in "),
                                            HasSubstr(hierarchies_.front().mount.string()),
                                            HasSubstr("; did you mean /database?"))));
  std::ofstream(temp_.path() / "unified/file") << "x";
  EXPECT_THAT(Cgroups({"file"}), FailsWith(ErrorCode::kNotFound));
  hierarchies_.clear();
  EXPECT_THAT(Cgroups({"x"}), FailsWith(ErrorCode::kNotFound, HasSubstr("mount -t cgroup2")));
}

TEST_F(CgroupTree, FindsContainersOfAllEngines) {
  for (const std::string& path :
       {"docker/" + kIdA, "system.slice/docker-" + kIdA + ".scope",
        "machine.slice/libpod-" + kIdA + ".scope", "system.slice/crio-" + kIdA + ".scope",
        "kubepods.slice/kubepods-pod1_2.slice/cri-containerd-" + kIdA + ".scope",
        "kubepods/burstable/pod1-2/" + kIdA, "system.slice:docker:" + kIdA}) {
    Add("unified", path);
    EXPECT_THAT(PathsOf(Containers({kIdA.substr(0, 4)})), ElementsAre("/" + path));
    EXPECT_THAT(PathsOf(Containers({kIdA})), ElementsAre("/" + path));
    std::filesystem::remove_all(temp_.path() / "unified");
  }
  Add("unified", "lxc.payload.web");
  EXPECT_THAT(PathsOf(Containers({"web"})), ElementsAre("/lxc.payload.web"));
  EXPECT_THAT(Containers({"we"}), FailsWith(ErrorCode::kNotFound)) << "a name is no id";
}

TEST_F(CgroupTree, TakesTheOutermostDirectoryOfAContainer) {
  Add("unified", "pod/" + kIdA + "/inner");
  Add("unified", "pod/" + kIdA + "/libpod-payload-" + kIdA);
  Add("unified", "pod/libpod-conmon-" + kIdA + ".scope");
  EXPECT_THAT(PathsOf(Containers({"aaa"})), ElementsAre("/pod/" + kIdA));
}

TEST_F(CgroupTree, RefusesTheBeginningOfSeveralIds) {
  Add("unified", "docker/" + kIdA);
  Add("unified", "docker/" + kIdB);
  EXPECT_THAT(Containers({"a"}), FailsWith(ErrorCode::kInvalidArgument,
                                           AllOf(HasSubstr("several containers"), HasSubstr(kIdA),
                                                 HasSubstr(kIdB), HasSubstr("give more of it"))));
  EXPECT_THAT(PathsOf(Containers({"ab"})), ElementsAre("/docker/" + kIdB));
  EXPECT_THAT(PathsOf(Containers({"ab", "aa"})), ElementsAre("/docker/" + kIdA, "/docker/" + kIdB));
  EXPECT_THAT(Containers({"docke"}),
              FailsWith(ErrorCode::kNotFound, HasSubstr("has this id in its name")));
}

TEST_F(CgroupTree, FindsContainersInVersionOne) {
  Add("cpu", "docker/" + kIdC);
  const auto found = Containers({"ccc"});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->hierarchy.controllers, ElementsAre("cpu"));
}

TEST_F(CgroupTree, FindsPodsByNamespaceAndName) {
  const std::string uid_a = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", uid_b(32, '7');
  const std::string slice = "kubepods.slice/kubepods-pod0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0.slice";
  Add("unified", slice + "/cri-containerd-" + kIdA + ".scope");
  Add("unified", "kubepods/pod" + uid_b + "/" + kIdB);
  const std::vector<Pod> pods = {
      {uid_a, "shop", "web-0"}, {uid_b, "shop", "web-1"}, {"ended", "shop", "db"}};
  const auto find = [&](std::vector<std::string> names) {
    return FindPods(hierarchies_, pods, names);
  };
  const std::string pod_a = "/" + slice, pod_b = "/kubepods/pod" + uid_b;
  EXPECT_THAT(PathsOf(find({"shop/web-0"})), ElementsAre(pod_a));
  EXPECT_THAT(PathsOf(find({"web-1"})), ElementsAre(pod_b));
  EXPECT_THAT(PathsOf(find({"shop/web-*"})), ElementsAre(pod_a, pod_b));
  EXPECT_THAT(PathsOf(find({"web-0", "s*/web-1"})), ElementsAre(pod_a, pod_b));
  EXPECT_THAT(find({"shop/wbe-0"}),
              FailsWith(ErrorCode::kNotFound, HasSubstr("did you mean shop/web-0")));
  EXPECT_THAT(find({"other/web-0"}), FailsWith(ErrorCode::kNotFound, HasSubstr("3 pods")));
  EXPECT_THAT(find({"db"}), FailsWith(ErrorCode::kNotFound, HasSubstr("no cgroup")));
}

TEST_F(CgroupTree, ListsParentsBeforeTheirChildren) {
  Add("unified", "b/y");
  Add("unified", "a");
  std::vector<std::string> paths;
  for (const CgroupDirectory& cgroup : CgroupsOf(hierarchies_.front())) {
    paths.push_back(cgroup.path);
  }
  EXPECT_THAT(paths, ElementsAre("/", "/a", "/b", "/b/y"));
}

TEST_F(CgroupTree, RecordsWhatIsInBoth) {
  Add("unified", "a/x");
  Add("unified", "b/y/z");
  const auto in_both = [&](std::vector<std::string> left, std::vector<std::string> right) {
    return InBoth(Cgroups(std::move(left)).value(), Cgroups(std::move(right)).value(),
                  "--cgroup and --container");
  };
  EXPECT_THAT(PathsOf(in_both({"a", "b/y/z"}, {"a/x", "b/y"})), ElementsAre("/a/x", "/b/y/z"));
  EXPECT_THAT(in_both({"a"}, {"b"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("nothing would be recorded")));
}

// Returns the hierarchies of a /proc/self/mountinfo.
std::vector<CgroupHierarchy> HierarchiesIn(std::string_view mountinfo) {
  const TempDir temp;
  std::ofstream(temp.path() / "mountinfo") << mountinfo;
  return MountedCgroupHierarchies(temp.path() / "mountinfo").value();
}

TEST(MountedCgroupHierarchies, HaveVersionTwoFirst) {
  EXPECT_THAT(
      HierarchiesIn("22 1 0:20 / / rw - ext4 /dev/vda rw\n"
                    "30 22 0:26 / /cg/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup "
                    "rw,cpu,cpuacct\n"
                    "31 22 0:27 / /cg/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
                    "32 22 0:28 / /cg/uni\\040fied rw master:1 - cgroup2 cgroup2 rw,nsdelegate\n"
                    "33 22 0:28 / /again rw - cgroup2 cgroup2 rw\n"),
      ElementsAre(CgroupHierarchy{.mount = "/cg/uni fied", .is_perfs = true},
                  CgroupHierarchy{.mount = "/cg/cpu,cpuacct", .controllers = {"cpu", "cpuacct"}}));
}

TEST(MountedCgroupHierarchies, HavePerfsFirst) {
  EXPECT_THAT(HierarchiesIn("30 22 0:26 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
                            "31 22 0:27 / /cg/perf_event rw - cgroup cgroup rw,perf_event\n"
                            "32 22 0:28 / /cg/unified rw - cgroup2 cgroup2 rw\n"),
              ElementsAre(
                  CgroupHierarchy{
                      .mount = "/cg/perf_event", .controllers = {"perf_event"}, .is_perfs = true},
                  CgroupHierarchy{.mount = "/cg/unified"},
                  CgroupHierarchy{.mount = "/cg/cpu", .controllers = {"cpu"}}));
  EXPECT_THAT(HierarchiesIn(""), ElementsAre());
}

TEST(MountedCgroupHierarchies, AreMountedWhereTheNamespaceBegins) {
  EXPECT_THAT(HierarchiesIn("31 22 0:26 /../.. /outside/cpu rw - cgroup cgroup rw,cpu\n"
                            "32 22 0:28 /../.. /outside/unified rw - cgroup2 cgroup2 rw\n"
                            "33 22 0:28 / /cg/unified rw - cgroup2 cgroup2 rw\n"
                            "34 22 0:28 / /again rw - cgroup2 cgroup2 rw\n"),
              ElementsAre(CgroupHierarchy{.mount = "/cg/unified", .is_perfs = true},
                          CgroupHierarchy{.mount = "/outside/cpu", .controllers = {"cpu"}}));
}

}  // namespace
}  // namespace perftape::record
