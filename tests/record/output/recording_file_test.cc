// SPDX-License-Identifier: Apache-2.0
#include "record/output/recording_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "record/output/file_finisher.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using perfdata::Feature;
using perfdata::FeatureBit;
using testing::ElementsAre;
using testing::IsEmpty;

class ARecordingFile : public testing::Test {
 protected:
  // A published file with a small feature, and one of 52 KiB about BPF programs.
  RecordingFile Created() {
    std::vector<Feature> features = {
        {FeatureBit::kHostname, perfdata::TextFeature{"machine"}},
        {FeatureBit::kBpfProgInfo, perfdata::RawFeature{std::vector<std::byte>(52 << 10)}}};
    std::vector<std::string> warnings;
    const std::vector<perfdata::Event> events(1);
    RecordingFileOptions options;
    options.path = path_;
    options.target = ResolveOutput(path_).value();
    RecordingFile file =
        RecordingFile::Create(options, events, std::move(features), warnings).value();
    EXPECT_TRUE(file.Publish());
    return file;
  }
  std::vector<std::string> FeaturesInFile() const {
    const std::string bytes = ReadWholeFile(path_).value_or("");
    const Result<perfdata::Reader> reader = perfdata::Reader::FromBytes(AsBytes(bytes));
    std::vector<std::string> names;
    if (!reader) return names;
    for (const auto& [bit, section] : reader->features()) names.push_back(FeatureName(bit));
    return names;
  }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "perf.data";
  const std::vector<Feature> more_ = {{FeatureBit::kSampleTime, perfdata::SampleTime{1, 2}}};
  const std::string warning_ =
      path_.native() + ": left out, the disk has no room for it: feature BPF_PROG_INFO";
};

TEST_F(ARecordingFile, HasAllFeaturesIfThereIsRoom) {
  const auto finished = Created().Finish(more_);
  ASSERT_TRUE(finished);
  EXPECT_THAT(finished->warnings, IsEmpty());
  EXPECT_THAT(FeaturesInFile(), ElementsAre("HOSTNAME", "SAMPLE_TIME", "BPF_PROG_INFO"));
}

TEST_F(ARecordingFile, GivesUpThatOfBpfProgramsOnASmallDisk) {
  const FileSizeLimit limit(32 << 10);
  const auto finished = Created().Finish(more_);
  ASSERT_TRUE(finished);
  EXPECT_THAT(finished->warnings, ElementsAre(warning_));
  EXPECT_THAT(FeaturesInFile(), ElementsAre("HOSTNAME", "SAMPLE_TIME"));
}

TEST_F(ARecordingFile, OfARotationGivesUpTheSame) {
  const FileSizeLimit limit(32 << 10);
  const CompletedFile completed =
      Complete({.file = Created(), .features = more_, .bundle = {}, .notes = {}});
  EXPECT_EQ(completed.failure, "");
  EXPECT_THAT(completed.warnings, ElementsAre(warning_));
  EXPECT_THAT(FeaturesInFile(), ElementsAre("HOSTNAME", "SAMPLE_TIME"));
}

TEST_F(ARecordingFile, HasNoFeaturesIfTheDiskIsFull) {
  RecordingFile file = Created();
  const FileSizeLimit limit(file.size());
  EXPECT_FALSE(std::move(file).Finish(more_));
  EXPECT_THAT(FeaturesInFile(), IsEmpty());
}

TEST(NameOfOpenFile, FollowsItUntilItIsDeleted) {
  const TempDir dir;
  const std::filesystem::path directory = std::filesystem::canonical(dir.path());
  const UniqueFd file(::open(dir.Write("x", "text").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(NameOfOpenFile(file.get()), directory / "x");
  std::filesystem::rename(dir / "x", dir / "x (deleted)");
  dir.Write("x", "another");
  EXPECT_EQ(NameOfOpenFile(file.get()), directory / "x (deleted)");
  std::filesystem::remove(dir / "x (deleted)");
  EXPECT_EQ(NameOfOpenFile(file.get()), std::nullopt);
}

}  // namespace
}  // namespace perftape::record
