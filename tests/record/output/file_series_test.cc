// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/record/made_recording.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class FileSeriesTest : public testing::Test {
 protected:
  void Prepare(FileSeriesOptions files) {
    series_options_ = std::move(files);
    options_.file = dir_ / "p.%n";
    series_ = FileSeries::Prepare(options_, series_options_, SignalState::Now(), clock_).value();
  }
  // Adds a file of so many samples, and waits until it is complete.
  std::filesystem::path AddFile(std::uint64_t samples) {
    const std::filesystem::path path = series_->NextPath();
    std::vector<std::string> warnings;
    EndedFile ended{
        .file = files_.CreateFile(path, ResolveOutput(path).value(), OldFile::kRefuse, warnings)
                    .value(),
        .features = {},
        .bundle = {},
        .notes = {},
        .samples = samples};
    EXPECT_TRUE(ended.file.Publish());
    series_->Add(std::move(ended));
    while (series_->unfinished() > 0) series_->Collect();
    return path;
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  TempDir dir_;
  MadeClock clock_;
  MadeInput input_{clock_};
  OutputOptions options_;
  FileSeriesOptions series_options_;
  FileTemplate files_ = FileTemplate::Make(options_, input_.events(), {}, {}).value();
  std::unique_ptr<FileSeries> series_;
  std::vector<std::string> warnings_;
};

TEST_F(FileSeriesTest, SumsUpItsFiles) {
  Prepare({});
  AddFile(3);
  const std::filesystem::path last = AddFile(5);
  EXPECT_EQ(series_->last_samples(), 5);
  const OutputSummary summary = series_->End(warnings_);
  EXPECT_EQ(summary.rotation->files, 2);
  EXPECT_EQ(summary.rotation->last, last);
  // Without the notes.
  EXPECT_GT(summary.bytes_written, std::filesystem::file_size(dir_ / "p.1"));
  EXPECT_LE(summary.bytes_written,
            std::filesystem::file_size(dir_ / "p.1") + std::filesystem::file_size(dir_ / "p.2"));
  EXPECT_EQ(summary.failure, "");
}

TEST_F(FileSeriesTest, CountsTheSamplesOfAFileThatWasDeletedMeanwhile) {
  Prepare({});
  const std::filesystem::path path = series_->NextPath();
  std::vector<std::string> warnings;
  EndedFile ended{
      .file =
          files_.CreateFile(path, ResolveOutput(path).value(), OldFile::kRefuse, warnings).value(),
      .features = {},
      .bundle = {},
      .notes = {},
      .samples = 7};
  ASSERT_TRUE(ended.file.Publish());
  std::filesystem::remove(path);
  series_->Add(std::move(ended));
  const OutputSummary summary = series_->End(warnings_);
  EXPECT_EQ(summary.counts.gone_samples, 7);
  EXPECT_THAT(summary.failure, HasSubstr("was deleted while it was written"));
}

TEST_F(FileSeriesTest, KeepsTheNewestFiles) {
  Prepare({.keep = {.files = 2}});
  for (int i = 0; i < 4; ++i) AddFile(1);
  series_->DeleteOldFiles();
  EXPECT_THAT(Names(), ElementsAre("p.3", "p.4"));
  EXPECT_EQ(series_->End(warnings_).rotation->deleted, 2);
}

TEST_F(FileSeriesTest, ChecksItsLimitsOnceInASecond) {
  Prepare({.keep = {.bytes = 1}});
  series_->DeleteIfDue();
  for (int i = 0; i < 2; ++i) AddFile(1);
  series_->DeleteIfDue();
  EXPECT_THAT(Names(), ElementsAre("p.1", "p.2"));
  EXPECT_TRUE(clock_.Poll({}, std::chrono::milliseconds(1100)));
  series_->DeleteIfDue();
  EXPECT_THAT(Names(), ElementsAre("p.2"));
}

TEST_F(FileSeriesTest, PassesEachFileToTheCommand) {
  Prepare({.exec_on_switch = "touch " + (dir_ / "seen").native() + "; false"});
  AddFile(1);
  const OutputSummary summary = series_->End(warnings_);
  EXPECT_EQ(summary.rotation->failed_commands, 1);
  EXPECT_THAT(Names(), Contains("seen"));
}

TEST_F(FileSeriesTest, KeepsFewWarnings) {
  Prepare({});
  for (int i = 0; i < 100; ++i) series_->Warn("again");
  (void)series_->End(warnings_);
  EXPECT_LT(warnings_.size(), 10);
}

}  // namespace
}  // namespace perftape::record
