// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_finisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/record/made_recording.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSamplesOfRound = 100;

class FileFinisherTest : public testing::Test {
 protected:
  // A file without a name, with so many rounds of 100 samples to append.
  EndedFile Ended(const std::string& name, int rounds) {
    const std::filesystem::path path = dir_ / name;
    std::vector<std::string> warnings;
    RecordingFile file =
        files_.CreateFile(path, ResolveOutput(path).value(), OldFile::kKeep, warnings).value();
    EndedFile ended{
        .file = std::move(file), .is_published = false, .features = {}, .bundle = {}, .notes = {}};
    for (int i = 0; i < rounds; ++i) {
      auto records = std::make_shared<std::vector<std::byte>>();
      for (std::uint64_t sample = 0; sample < kSamplesOfRound; ++sample) {
        const std::vector<std::byte> bytes = SampleOf(
            {.id = MadeInput::IdOf(0, 0), .time = kStartNs + ++samples_}, perfdata::CpuMode::kUser);
        records->insert(records->end(), bytes.begin(), bytes.end());
      }
      ended.rounds.push_back({.records = records, .samples = kSamplesOfRound});
      ended.samples += kSamplesOfRound;
    }
    ended.encode_lost = [this](std::uint64_t samples) {
      return files_.EncodeLost(samples, 0, kStartNs);
    };
    return ended;
  }

  TempDir dir_;
  MadeClock clock_;
  MadeInput input_{clock_};
  OutputOptions options_;
  FileTemplate files_ = FileTemplate::Make(options_, input_.events(), {}, {}).value();
  std::uint64_t samples_ = 0;
};

TEST_F(FileFinisherTest, GivesAFileItsNameWithAllRounds) {
  const CompletedFile completed = Complete(Ended("p.data", 3));
  EXPECT_EQ(completed.name, CompletedFile::Name::kKept);
  EXPECT_EQ(completed.failure, "");
  EXPECT_EQ(completed.samples, 300);
  EXPECT_EQ(ReadBack(dir_ / "p.data").sample_times.size(), 300);
}

TEST_F(FileFinisherTest, ReportsTheRoundsThatTheDiskHasNoRoomFor) {
  EndedFile ended = Ended("p.data", 3);
  constexpr std::size_t kLosses = 100;  // room for a LOST_SAMPLES and a FINISHED_ROUND
  const FileSizeLimit limit(ended.file.size() + 2 * ended.rounds[0].records->size() + kLosses);
  const CompletedFile completed = Complete(std::move(ended));
  EXPECT_THAT(completed.failure, HasSubstr("the latest samples are missing"));
  EXPECT_EQ(completed.samples, 200);
  const FileContent file = ReadBack(dir_ / "p.data");
  EXPECT_EQ(file.sample_times.size(), 200);
  EXPECT_EQ(file.lost_samples, 100);
}

TEST_F(FileFinisherTest, SaysWhatOthersDidToTheName) {
  EndedFile renamed = Ended("a.data", 0), deleted = Ended("b.data", 0);
  for (EndedFile* file : {&renamed, &deleted}) {
    ASSERT_TRUE(file->file.Publish());
    file->is_published = true;
  }
  std::filesystem::rename(dir_ / "a.data", dir_ / "c.data");
  std::filesystem::remove(dir_ / "b.data");
  const CompletedFile first = Complete(std::move(renamed));
  EXPECT_EQ(first.name, CompletedFile::Name::kRenamed);
  EXPECT_EQ(first.path.filename(), "c.data");
  const CompletedFile second = Complete(std::move(deleted));
  EXPECT_EQ(second.name, CompletedFile::Name::kDeleted);
  EXPECT_TRUE(second.path.empty());
}

TEST_F(FileFinisherTest, CompletesFilesInTheirOrder) {
  FileFinisher finisher;
  for (const char* name : {"1", "2", "3"}) finisher.Add(Ended(name, 1));
  std::vector<std::string> names;
  for (const CompletedFile& file : finisher.WaitForAll()) {
    names.push_back(file.path.filename().string());
  }
  EXPECT_THAT(names, ElementsAre("1", "2", "3"));
}

}  // namespace
}  // namespace perftape::record
