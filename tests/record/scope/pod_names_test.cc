// SPDX-License-Identifier: Apache-2.0
#include "record/scope/pod_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using cgroup::ContainerPath;
using testing::ElementsAre;

const std::string kPodUid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const std::string kContainerId(64, 'a'), kOtherContainerId(64, 'b');
const ContainerNames kWebContainer = {
    .pod_namespace = "shop", .pod = "web-0", .container = "nginx"};

// The directories of a node.
class Node : public testing::Test {
 protected:
  void AddDirectory(const std::string& path) {
    std::filesystem::create_directories(temp_.path() / path);
  }
  void AddFile(const std::string& path, const std::string& text) {
    AddDirectory(std::filesystem::path(path).parent_path().string());
    std::ofstream(temp_.path() / path) << text;
  }
  ContainerNames Find(const ContainerPath& path) { return names_.Find(path); }

  TempDir temp_;
  PodNames names_{temp_.path()};
};

TEST_F(Node, FindsThePodByTheDirectoryOfItsLogs) {
  AddDirectory("var/log/pods/shop_web-0_" + kPodUid + "/nginx");
  EXPECT_EQ(Find({.pod_uid = kPodUid}),
            (ContainerNames{.pod_namespace = "shop", .pod = "web-0", .container = ""}));
  EXPECT_EQ(Find({.pod_uid = "unknown"}), ContainerNames());
}

TEST_F(Node, FindsTheContainerByItsLog) {
  AddFile("var/log/containers/web-0_shop_nginx-" + kContainerId + ".log", "");
  EXPECT_EQ(Find({.pod_uid = kPodUid, .container_id = kContainerId}), kWebContainer);
}

TEST(ContainerOfLog, NeedsAnIdOfHexadecimalDigits) {
  const std::string file = "web-0_shop_nginx-" + kContainerId + ".log";
  EXPECT_EQ(ContainerOfLog(file).id, kContainerId);
  EXPECT_EQ(ContainerOfLog("web-0_shop_nginx-" + std::string(64, '.') + ".log").id, "");
}

// The names of files are cut if they are long, those of directories are not.
TEST_F(Node, PrefersTheNamesOfTheDirectory) {
  AddDirectory("var/log/pods/shop_web-with-a-long-name_" + kPodUid);
  AddFile("var/log/containers/web-with_shop_nginx-" + kContainerId + ".log", "");
  EXPECT_EQ(Find({.pod_uid = kPodUid, .container_id = kContainerId}),
            (ContainerNames{
                .pod_namespace = "shop", .pod = "web-with-a-long-name", .container = "nginx"}));
}

TEST_F(Node, ReadsTheAnnotationsOfContainerd) {
  AddFile("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kContainerId + "/config.json",
          R"({"ociVersion": "1.1.0", "annotations": {
              "io.kubernetes.cri.container-name": "nginx",
              "io.kubernetes.cri.sandbox-name": "web-0",
              "io.kubernetes.cri.sandbox-namespace": "shop"}})");
  EXPECT_EQ(Find({.container_id = kContainerId}), kWebContainer);
}

TEST_F(Node, ReadsTheLabelsOrTheNameOfDocker) {
  AddFile("var/lib/docker/containers/" + kContainerId + "/config.v2.json",
          R"({"Name": "/k8s_x", "Config": {"Labels": {"io.kubernetes.container.name": "nginx",
              "io.kubernetes.pod.name": "web-0", "io.kubernetes.pod.namespace": "shop"}}})");
  AddFile("var/lib/docker/containers/" + kOtherContainerId + "/config.v2.json",
          R"({"Name": "/database", "Config": {"Labels": {}}})");
  EXPECT_EQ(Find({.container_id = kContainerId}), kWebContainer);
  EXPECT_EQ(Find({.container_id = kOtherContainerId}), (ContainerNames{.container = "database"}));
}

TEST_F(Node, ReadsTheNamesOfPodmanAndCriO) {
  AddFile("var/lib/containers/storage/overlay-containers/containers.json",
          R"([{"id": ")" + kContainerId + R"(", "names": ["k8s_nginx_web-0_shop_)" + kPodUid +
              R"(_0"]}, {"id": ")" + kOtherContainerId +
              R"(", "names": ["database"]}, {"id": 1}, 2])");
  EXPECT_EQ(Find({.container_id = kContainerId}), kWebContainer);
  EXPECT_EQ(Find({.container_id = kOtherContainerId}), (ContainerNames{.container = "database"}));
}

TEST_F(Node, KnowsNoNamesFromDamagedFiles) {
  AddFile("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kContainerId + "/config.json",
          "[1, ");
  AddFile("var/lib/docker/containers/" + kOtherContainerId + "/config.v2.json",
          R"({"Config": "x"})");
  AddFile("var/lib/containers/storage/overlay-containers/containers.json", R"({"id": "x"})");
  AddFile("var/log/containers/no-pod.log", "");
  AddDirectory("var/log/pods/a_b");
  EXPECT_EQ(Find({.container_id = kContainerId}), ContainerNames());
  EXPECT_EQ(Find({.container_id = kOtherContainerId}), ContainerNames());
  EXPECT_EQ(Find({.pod_uid = kPodUid, .container_id = "../../../etc"}), ContainerNames());
}

// It would wait for a writer forever.
TEST_F(Node, OpensNoFifo) {
  AddDirectory("var/lib/docker/containers/" + kContainerId);
  const auto path = temp_.path() / "var/lib/docker/containers" / kContainerId / "config.v2.json";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Find({.container_id = kContainerId}), ContainerNames());
}

TEST_F(Node, KeepsTheNamesOfADeletedPod) {
  AddDirectory("var/log/pods/shop_web-0_" + kPodUid);
  EXPECT_EQ(Find({.pod_uid = kPodUid}).pod, "web-0");
  std::filesystem::remove_all(temp_.path() / "var");
  EXPECT_EQ(Find({.pod_uid = kPodUid}).pod, "web-0");
}

TEST_F(Node, ListsItsPods) {
  EXPECT_THAT(names_.Pods(), ElementsAre());
  AddDirectory("var/log/pods/shop_web-0_" + kPodUid);
  AddDirectory("var/log/pods/kube-system_etcd-node_" + std::string(32, '7'));
  AddDirectory("var/log/pods/lost+found");
  EXPECT_THAT(names_.Pods(), ElementsAre(Pod{std::string(32, '7'), "kube-system", "etcd-node"},
                                         Pod{kPodUid, "shop", "web-0"}));
}

}  // namespace
}  // namespace perftape::record
