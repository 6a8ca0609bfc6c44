// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/cri/name_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perftape::serve {
namespace {

using record::ContainerNames;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(NameLines, AreReadAgain) {
  const std::vector<cri::PodSandbox> pods = {{"s1", "u1", "shop", "web-0"},
                                             {"s2", "u2", "kube-system", "etcd"}};
  const std::vector<cri::Container> containers = {{"c1", "s1", "nginx"}, {"c2", "gone", "lost"}};
  const NodeNames names = ParseNameLines(NameLines(pods, containers));
  EXPECT_THAT(names.pods, ElementsAre(Pair("u1", ContainerNames{"shop", "web-0", ""}),
                                      Pair("u2", ContainerNames{"kube-system", "etcd", ""})));
  EXPECT_THAT(names.containers, ElementsAre(Pair("c1", ContainerNames{"shop", "web-0", "nginx"}),
                                            Pair("s1", ContainerNames{"shop", "web-0", ""}),
                                            Pair("s2", ContainerNames{"kube-system", "etcd", ""})));
}

TEST(NameLines, HaveOnlyNamesOfKubernetes) {
  const std::vector<cri::PodSandbox> pods = {{"s1", "u\t1", "shop", "web-0"},
                                             {"s2", "u2", "sh\nop", "web-0"},
                                             {"s3", "u3", "shop", std::string(254, 'a')},
                                             {"s4", "", "shop", "web-0"},
                                             {"s5", "u5", "shop", "\xff"},
                                             {"s6", "../u6", "shop", "web-0"}};
  EXPECT_EQ(NameLines(pods, {}), "");
  const std::vector<cri::PodSandbox> good = {{"s1", "u1", "shop", "web-0"}};
  const std::vector<cri::Container> containers = {{"c1", "s1", "a\tb"}, {"c\n2", "s1", "b"}};
  EXPECT_EQ(NameLines(good, containers), NameLines(good, {}));
}

TEST(NameLines, HaveALimit) {
  const std::vector<cri::PodSandbox> pods = {{"s1", "u1", "shop", "web-0"}};
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kMostLines + 10; ++i) ids.push_back("c" + std::to_string(i));
  std::vector<cri::Container> containers;
  for (const std::string& id : ids) containers.push_back({id, "s1", "nginx"});
  EXPECT_EQ(ParseNameLines(NameLines(pods, containers)).containers.size(), kMostLines);
}

TEST(NameLines, ThatAreNotWholeAreIgnored) {
  for (const char* const text : {"", "u\tn\tp\tc\tx", "u\tn\tp\tc\n", "u\tn\tp\tc\tx\ty\n", "\n\n"})
    EXPECT_THAT(ParseNameLines(text).containers, IsEmpty()) << text;
}

}  // namespace
}  // namespace perftape::serve
