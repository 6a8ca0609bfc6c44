// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/import/from_perfdata.h"
#include "formats/base/file.h"
#include "tests/support/bytes_input.h"
#include "tests/support/corpus.h"
#include "tests/support/matchers.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

// Returns the number after `"key": ` in the oracle of a recording, which perf 6.1 made.
std::uint64_t Oracle(const std::filesystem::path& recording, std::string_view key) {
  std::filesystem::path path = recording;
  path.replace_extension().replace_extension(".oracle.json");
  const std::string text = ReadWholeFile(path).value();
  const std::size_t at = text.find('"' + std::string(key) + "\": ");
  return std::stoull(text.substr(at + key.size() + 4));
}

TEST(ImportPerfDataCorpus, CountsTheSamplesOfRealRecordingsAsPerfDoes) {
  if (CorpusDirectory().empty()) GTEST_SKIP() << kNoCorpus;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CorpusDirectory() / "perfdata")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".perf.data")) continue;
    ++files;
    const MappedFile file = MappedFile::Open(entry.path()).value();
    BytesInput input(file.bytes());
    ImportReport report;
    const Result<Profile> profile = ReadPerfData(input, {}, report);
    ASSERT_THAT(profile, IsOk()) << name;
    EXPECT_THAT(Validate(*profile), IsOk()) << name;
    EXPECT_EQ(report.samples, Oracle(entry.path(), "samples")) << name;
    EXPECT_EQ(report.lost_samples, Oracle(entry.path(), "lost_samples")) << name;
  }
  EXPECT_GT(files, 60);
}

TEST(ImportPerfDataCorpus, SurvivesDamageOfEveryKind) {
  if (CorpusDirectory().empty()) GTEST_SKIP() << kNoCorpus;
  for (const char* directory : {"corrupt/made", "corrupt/fuzz"}) {
    for (const auto& entry : std::filesystem::directory_iterator(CorpusDirectory() / directory)) {
      Result<Input> input = Input::Open(entry.path());
      ASSERT_THAT(input, IsOk());
      ImportReport report;
      const Result<Profile> profile = ReadPerfData(*input, {}, report);
      if (profile) {
        EXPECT_THAT(Validate(*profile), IsOk()) << entry.path();
      }
    }
  }
}

}  // namespace
}  // namespace perftape::convert
