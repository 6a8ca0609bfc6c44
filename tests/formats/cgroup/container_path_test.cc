// SPDX-License-Identifier: Apache-2.0
#include "formats/cgroup/container_path.h"

#include <gtest/gtest.h>

#include <string>

namespace perftape::cgroup {
namespace {

const std::string kId(64, 'a');
const std::string kUid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const std::string kUidOfSlice = "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0";

TEST(ParseContainerPath, KnowsTheNamesOfContainerEngines) {
  const ContainerPath container = {.container_id = kId};
  EXPECT_EQ(ParseContainerPath("/docker/" + kId), container);
  EXPECT_EQ(ParseContainerPath("/system.slice/docker-" + kId + ".scope"), container);
  EXPECT_EQ(ParseContainerPath("/machine.slice/libpod-" + kId + ".scope/container"), container);
  EXPECT_EQ(ParseContainerPath("/system.slice/crio-" + kId + ".scope"), container);
  EXPECT_EQ(ParseContainerPath("/lxc.payload.web/init.scope"),
            (ContainerPath{.container_id = "web"}));
  EXPECT_EQ(ParseContainerPath("/lxc.payload..."), ContainerPath());
}

TEST(ParseContainerPath, KnowsThePodsOfBothDrivers) {
  const ContainerPath both = {.pod_uid = kUid, .container_id = kId};
  EXPECT_EQ(ParseContainerPath("/kubepods/burstable/pod" + kUid + "/" + kId), both);
  EXPECT_EQ(ParseContainerPath("/kubepods/pod" + kUid + "/" + kId), both);
  const std::string slice =
      "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUidOfSlice + ".slice";
  EXPECT_EQ(ParseContainerPath(slice + "/cri-containerd-" + kId + ".scope"), both);
  EXPECT_EQ(ParseContainerPath(slice), (ContainerPath{.pod_uid = kUid}));
  EXPECT_EQ(ParseContainerPath("/system.slice/containerd.service/kubepods-burstable-pod" +
                               kUidOfSlice + ".slice:cri-containerd:" + kId),
            both);
}

TEST(ParseContainerPath, KnowsThePodsOfFiles) {
  const std::string hash(32, '7');
  EXPECT_EQ(ParseContainerPath("/kubepods/burstable/pod" + hash + "/" + kId),
            (ContainerPath{.pod_uid = hash, .container_id = kId}));
}

TEST(ParseContainerPath, TakesTheInnermost) {
  const std::string node(64, 'b');
  EXPECT_EQ(ParseContainerPath("/docker/" + node +
                               "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" +
                               kUidOfSlice + ".slice/cri-containerd-" + kId + ".scope"),
            (ContainerPath{.pod_uid = kUid, .container_id = kId}));
  EXPECT_EQ(ParseContainerPath("/docker/" + node + "/docker/" + kId),
            (ContainerPath{.container_id = kId}));
}

TEST(UnitIn, IsTheInnermostServiceOrScope) {
  EXPECT_EQ(UnitIn("/system.slice/nginx.service"), "nginx.service");
  EXPECT_EQ(UnitIn("/system.slice/nginx.service/worker"), "nginx.service");
  EXPECT_EQ(UnitIn("/system.slice/system-getty.slice/getty@tty1.service"), "getty@tty1.service");
  EXPECT_EQ(UnitIn("/user.slice/user-1000.slice/session-3.scope"), "session-3.scope");
  EXPECT_EQ(UnitIn("/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service"),
            "foo.service");
  EXPECT_EQ(UnitIn("/../../system.slice/cron.service"), "cron.service");
  EXPECT_EQ(UnitIn("/system.slice/systemd-fsck@dev-disk-by\\x2duuid-1.service"),
            "systemd-fsck@dev-disk-by\\x2duuid-1.service");
}

TEST(UnitIn, HasNoUnderscoreThatSystemdPutsBeforeANameOfAFile) {
  EXPECT_EQ(UnitIn("/system.slice/_memory.service"), "memory.service");
}

TEST(UnitIn, IsNoContainerAndInNoPod) {
  EXPECT_EQ(UnitIn("/system.slice/docker-" + kId + ".scope"), "");
  EXPECT_EQ(UnitIn("/machine.slice/libpod-" + kId + ".scope/container"), "");
  EXPECT_EQ(UnitIn("/system.slice/backup.service/libpod-payload-" + kId), "backup.service");
  const std::string slice = "/kubepods.slice/kubepods-pod" + kUidOfSlice + ".slice";
  EXPECT_EQ(UnitIn(slice + "/cri-containerd-" + kId + ".scope/init.scope"), "");
  EXPECT_EQ(UnitIn("/system.slice/containerd.service/kubepods-burstable-pod" + kUidOfSlice +
                   ".slice:cri-containerd:" + kId),
            "");
  EXPECT_EQ(UnitIn("/system.slice/kubelet.service"), "kubelet.service");
  for (const std::string_view path : {"", "/", "/user.slice/user-1000.slice", "/nginx.serviced"}) {
    EXPECT_EQ(UnitIn(path), "") << path;
  }
}

TEST(ParseContainerPath, FindsNothingElsewhere) {
  for (const std::string& path :
       {std::string("/"), std::string(""), std::string("/user.slice/user-1000.slice"),
        std::string("/system.slice/cron.service"), "/machine.slice/libpod-conmon-" + kId + ".scope",
        "/crio-conmon-" + kId + ".scope", "/docker/" + kId.substr(1),
        "/kubepods/pod" + kUid.substr(1), std::string("/system.slice/podman.service")}) {
    EXPECT_EQ(ParseContainerPath(path), ContainerPath()) << path;
  }
}

}  // namespace
}  // namespace perftape::cgroup
