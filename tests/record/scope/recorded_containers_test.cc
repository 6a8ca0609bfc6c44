// SPDX-License-Identifier: Apache-2.0
#include "record/scope/recorded_containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;

const std::string kRecordedUid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", kRecordedId(64, 'a');
const std::string kRecordedPath = "/kubepods/pod" + kRecordedUid + "/" + kRecordedId;

class MadeSource : public NameSource {
 public:
  ContainerNames Find(const cgroup::ContainerPath& path) override {
    asked.push_back(path);
    return answer;
  }
  std::uint64_t Answers() override { return answers; }

  ContainerNames answer;
  std::uint64_t answers = 0;
  std::vector<cgroup::ContainerPath> asked;
};

std::string NamesOf(const RecordedContainers& containers) {
  std::string names;
  for (const bundle::NotedContainer& one : containers.Noted()) {
    names.append(one.pod_namespace).append("/").append(one.pod);
    names.append("/").append(one.container) += " ";
  }
  return names;
}

TEST(RecordedContainers, GetTheNamesOfALaterAnswer) {
  const TempDir root;
  MadeSource source;
  RecordedContainers containers(PodNames(root.path(), &source));
  containers.Add(kRecordedPath);
  EXPECT_THAT(source.asked, ElementsAre(cgroup::ContainerPath{kRecordedUid, kRecordedId}));
  source.answer = {.pod_namespace = "shop", .pod = "web-0", .container = "nginx"};
  containers.AddAnswers();
  EXPECT_EQ(NamesOf(containers), "// ");  // it has not answered

  source.answers = 1;
  containers.AddAnswers();
  EXPECT_EQ(NamesOf(containers), "shop/web-0/nginx ");
  source.answers = 2;
  containers.AddAnswers();
  EXPECT_EQ(source.asked.size(), 2U);  // nothing is unknown
}

TEST(RecordedContainers, PreferTheNamesOfFiles) {
  const TempDir root;
  std::filesystem::create_directories(root.path() / ("var/log/pods/files_web-0_" + kRecordedUid));
  MadeSource source;
  source.answer = {.pod_namespace = "shop", .pod = "other", .container = "nginx"};
  RecordedContainers containers(PodNames(root.path(), &source));
  containers.Add(kRecordedPath);
  EXPECT_EQ(NamesOf(containers), "files/web-0/nginx ");
}

TEST(RecordedContainers, AskNobodyForAPodThatFilesName) {
  const TempDir root;
  std::filesystem::create_directories(root.path() / ("var/log/pods/files_web-0_" + kRecordedUid));
  MadeSource source;
  RecordedContainers containers(PodNames(root.path(), &source));
  containers.Add("/kubepods/pod" + kRecordedUid);
  EXPECT_THAT(source.asked, ElementsAre());
  EXPECT_EQ(NamesOf(containers), "files/web-0/ ");
}

}  // namespace
}  // namespace perftape::record
