// SPDX-License-Identifier: Apache-2.0
// The end of a file on a disk that has no room for all features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/writer.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Feature FeatureOf(FeatureBit bit, std::size_t size) {
  return {bit, RawFeature{std::vector<std::byte>(size)}};
}

class FinishInRoom : public testing::Test {
 protected:
  // Finishes a file that must not have more than `limit` bytes.
  Result<FinishedFile> Finish(rlim_t limit, std::vector<FeatureBit> expendable) {
    const std::vector<Event> events(1);
    Writer writer = Writer::Create(path_, events).value();
    EXPECT_THAT(writer.Publish(), IsOk());
    before_ = writer.size();
    const FileSizeLimit full(limit);
    return std::move(writer).FinishInRoom(features_, expendable);
  }
  std::vector<std::string> FeaturesInFile() const {
    const std::string bytes = ReadWholeFile(path_).value_or("");
    const Result<Reader> reader = Reader::FromBytes(AsBytes(bytes));
    std::vector<std::string> names;
    if (!reader) return {"not a perf.data"};
    for (const auto& [bit, section] : reader->features()) names.push_back(FeatureName(bit));
    return names;
  }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "perf.data";
  const std::vector<Feature> features_ = {
      FeatureOf(FeatureBit::kHostname, 16), FeatureOf(FeatureBit::kBpfProgInfo, 3000),
      FeatureOf(FeatureBit::kBpfBtf, 3000), FeatureOf(FeatureBit::kArch, 16)};
  std::uint64_t before_ = 0;
};

TEST_F(FinishInRoom, LeavesNothingOutThatFits) {
  const auto finished = Finish(1 << 20, {FeatureBit::kBpfBtf});
  ASSERT_THAT(finished, IsOk());
  EXPECT_THAT(finished->left_out, IsEmpty());
  EXPECT_EQ(finished->size, std::filesystem::file_size(path_));
  EXPECT_THAT(FeaturesInFile(), ElementsAre("HOSTNAME", "ARCH", "BPF_PROG_INFO", "BPF_BTF"));
}

TEST_F(FinishInRoom, LeavesOutTheFirstExpendableFeatureThatItHas) {
  const auto finished =
      Finish(5000, {FeatureBit::kCache, FeatureBit::kBpfBtf, FeatureBit::kBpfProgInfo});
  ASSERT_THAT(finished, IsOk());
  EXPECT_THAT(finished->left_out, ElementsAre(FeatureBit::kBpfBtf));
  EXPECT_EQ(finished->size, std::filesystem::file_size(path_));
  EXPECT_THAT(FeaturesInFile(), ElementsAre("HOSTNAME", "ARCH", "BPF_PROG_INFO"));
}

TEST_F(FinishInRoom, LeavesOutOneMoreUntilTheOthersFit) {
  const auto finished =
      Finish(2500, {FeatureBit::kBpfBtf, FeatureBit::kBpfProgInfo, FeatureBit::kArch});
  ASSERT_THAT(finished, IsOk());
  EXPECT_THAT(finished->left_out, ElementsAre(FeatureBit::kBpfBtf, FeatureBit::kBpfProgInfo));
  EXPECT_THAT(FeaturesInFile(), ElementsAre("HOSTNAME", "ARCH"));
}

TEST_F(FinishInRoom, HasNoFeaturesIfTheOthersDoNotFitEither) {
  EXPECT_THAT(Finish(2500, {FeatureBit::kBpfBtf}), FailsWith(ErrorCode::kIo));
  EXPECT_EQ(std::filesystem::file_size(path_), before_);
  EXPECT_THAT(FeaturesInFile(), IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata
