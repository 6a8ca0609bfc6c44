// SPDX-License-Identifier: Apache-2.0
#include "formats/cri/runtime_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace perftape::cri {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A field of protobuf with fewer than 128 bytes.
std::string EncodedField(int number, std::string_view content) {
  std::string field = {static_cast<char>(number << 3 | 2), static_cast<char>(content.size())};
  return field.append(content);
}

// An item of ListPodSandboxResponse.
std::string EncodedPod(std::string_view id, std::string_view uid, std::string_view name_space,
                       std::string_view name) {
  const std::string metadata =
      EncodedField(1, name) + EncodedField(2, uid) + EncodedField(3, name_space);
  return EncodedField(1, EncodedField(1, id) + EncodedField(2, metadata) + "\x18\x01");
}

// An item of ListContainersResponse.
std::string EncodedContainer(std::string_view id, std::string_view sandbox, std::string_view name) {
  return EncodedField(1, EncodedField(1, id) + EncodedField(2, sandbox) +
                             EncodedField(3, EncodedField(1, name)) + "\x30\x01");
}

TEST(RuntimeLists, HavePodsAndContainers) {
  const std::string pods =
      EncodedPod("s1", "u1", "shop", "web-0") + EncodedPod("s2", "u2", "kube-system", "etcd");
  EXPECT_THAT(DecodePodSandboxes(AsBytes(pods)).value(),
              ElementsAre(PodSandbox{"s1", "u1", "shop", "web-0"},
                          PodSandbox{"s2", "u2", "kube-system", "etcd"}));
  const std::string containers =
      EncodedContainer("c1", "s1", "nginx") + EncodedContainer("c2", "s2", "etcd");
  EXPECT_THAT(DecodeContainers(AsBytes(containers)).value(),
              ElementsAre(Container{"c1", "s1", "nginx"}, Container{"c2", "s2", "etcd"}));
}

TEST(RuntimeLists, MayBeEmptyOrLackMetadata) {
  EXPECT_THAT(DecodePodSandboxes({}).value(), IsEmpty());
  EXPECT_THAT(DecodeContainers({}).value(), IsEmpty());
  const std::string item = EncodedField(1, EncodedField(1, "id"));
  EXPECT_THAT(DecodePodSandboxes(AsBytes(item)).value(), ElementsAre(PodSandbox{.id = "id"}));
  EXPECT_THAT(DecodeContainers(AsBytes(item)).value(), ElementsAre(Container{.id = "id"}));
}

TEST(RuntimeLists, ThatAreCutAreErrors) {
  const std::string pods = EncodedPod("s1", "u1", "shop", "web-0");
  const std::string containers = EncodedContainer("c1", "s1", "nginx");
  for (std::size_t size = 1; size < pods.size(); ++size)
    EXPECT_FALSE(DecodePodSandboxes(AsBytes(pods).first(size))) << size;
  for (std::size_t size = 1; size < containers.size(); ++size)
    EXPECT_FALSE(DecodeContainers(AsBytes(containers).first(size))) << size;
}

}  // namespace
}  // namespace perftape::cri
