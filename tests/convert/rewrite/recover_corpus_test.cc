// SPDX-License-Identifier: Apache-2.0
// Recovers the damaged and the good files of the corpus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "convert/rewrite/recover.h"
#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "tests/support/corpus.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::rewrite {
namespace {

using testing::IsEmpty;

// The oracle counts their damaged sample as complete: it has a header, but its body cannot be read.
const std::map<std::string, std::uint64_t> kUnreadableSamples = {
    {"b-branch-nr-huge.data", 1},
    {"c-callchain-nr-huge.data", 1},
    {"c-callchain-nr-plus1.data", 1},
    {"f-sample-short.data", 1},
};

// Records after the damage are recovered, too: the number of all samples.
const std::map<std::string, std::uint64_t> kSamplesInAll = {
    {"f-record-size-0.data", 12},
    {"f-record-size-4.data", 12},
    {"f-record-size-8.data", 12},
    {"f-record-size-ffff.data", 12},
    {"p-record-size-0.data", 6},
    {"p-record-size-4.data", 6},
    {"f-data-offset-0.data", 13},
    {"f-data-offset-beyond.data", 13},
    {"f-header-size-16.data", 13},
    {"f-magic-swapped.data", 13},
    {"p-tracing-data-beyond.data", 7},
    {"z-first-compressed-dropped.data", 34},
    {"z-middle-compressed-dropped.data", 34},
};

struct Expectation {
  std::string name;
  std::uint64_t samples_before_damage = 0;
};

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

std::vector<Expectation> Expectations(const std::filesystem::path& table) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> head = Split(line);
  const auto column = static_cast<std::size_t>(
      std::ranges::find(head, "complete_sample_records_before_damage") - head.begin());
  std::vector<Expectation> expectations;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = Split(line);
    const std::string& samples = fields.at(column);
    expectations.push_back({fields.at(0), samples == "-" ? 0 : std::stoull(samples)});
  }
  return expectations;
}

// Returns the number of samples that a reader finds in the output.
std::uint64_t SamplesIn(const std::filesystem::path& path) {
  const MappedFile file = MappedFile::Open(path).value();
  const perfdata::Reader reader = perfdata::Reader::FromBytes(file.bytes()).value();
  EXPECT_THAT(reader.problems(), IsEmpty());
  perfdata::RecordCursor cursor = reader.records();
  std::uint64_t samples = 0;
  while (const std::optional<perfdata::RecordView> record = cursor.Next().value()) {
    if (record->type == perfdata::RecordType::kSample) ++samples;
  }
  return samples;
}

class RecoverCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (CorpusDirectory().empty()) GTEST_SKIP() << kNoCorpus;
  }
  Result<RecoverReport> RecoverFile(const std::filesystem::path& path) {
    const MappedFile file = MappedFile::Open(path).value();
    return Recover(file.bytes(), output_);
  }

  TempDir dir_;
  std::filesystem::path output_ = dir_ / "out.data";
};

TEST_F(RecoverCorpus, KeepsEverySampleBeforeTheDamage) {
  const std::filesystem::path corrupt = CorpusDirectory() / "corrupt";
  std::size_t files = 0;
  for (const std::string kind : {"made", "fuzz"}) {
    for (const Expectation& expected : Expectations(corrupt / ("EXPECT-" + kind + ".tsv"))) {
      SCOPED_TRACE(expected.name);
      ++files;
      std::uint64_t wanted = expected.samples_before_damage;
      if (kUnreadableSamples.contains(expected.name)) {
        wanted -= kUnreadableSamples.at(expected.name);
      }
      if (kSamplesInAll.contains(expected.name)) wanted = kSamplesInAll.at(expected.name);
      const Result<RecoverReport> report = RecoverFile(corrupt / kind / expected.name);
      if (!report) {
        EXPECT_EQ(wanted, 0U) << report.error().message;
        EXPECT_THAT(report.error().message, testing::AnyOf(testing::HasSubstr("at 0x"),
                                                           testing::StrEq("the file is empty")));
        continue;
      }
      EXPECT_GE(report->samples(), wanted);
      EXPECT_EQ(SamplesIn(output_), report->samples());
    }
  }
  EXPECT_EQ(files, 121U);
}

TEST_F(RecoverCorpus, LosesNothingOfWhatItWrote) {
  const std::filesystem::path corrupt = CorpusDirectory() / "corrupt" / "made";
  for (const auto& entry : std::filesystem::directory_iterator(corrupt)) {
    const Result<RecoverReport> first = RecoverFile(entry.path());
    if (!first) continue;
    const std::filesystem::path once = dir_ / "once.data";
    std::filesystem::rename(output_, once);
    const Result<RecoverReport> again = RecoverFile(once);
    ASSERT_THAT(again, IsOk()) << entry.path();
    EXPECT_TRUE(again->is_whole()) << entry.path();
    EXPECT_EQ(again->kept, first->kept) << entry.path();
  }
}

// Good files only lose bytes that are no perf record.
TEST_F(RecoverCorpus, LosesNothingOfAGoodRecording) {
  const std::map<std::string, std::string> why = {
      {"own-x86_64-CRASHED-data-size-0", "its recorder was killed"},
      {"pipe-x86_64-k3.2-CORRUPT-zero-size-sample", "a sample of size 0"},
      {"pipe-x86_64-k6.16-COMPRESSED2-attr136-stderr-text-at-end", "the text at its end"},
      {"simpleperf-x86_64-debug-unwind", "records of simpleperf's own"},
      {"simpleperf-x86_64-dso-records", "records of simpleperf's own"},
  };
  for (const auto& entry : std::filesystem::directory_iterator(CorpusDirectory() / "perfdata")) {
    const std::string name = entry.path().filename().stem().stem();
    if (!entry.path().native().ends_with(".perf.data")) continue;
    const Result<RecoverReport> report = RecoverFile(entry.path());
    ASSERT_THAT(report, IsOk()) << name;
    EXPECT_EQ(report->is_whole(), !why.contains(name)) << name;
    if (name.starts_with("simpleperf")) {
      EXPECT_EQ(report->dropped_bytes, 0U) << name;
      EXPECT_EQ(report->samples(), SamplesIn(entry.path())) << name;
    }
    EXPECT_EQ(SamplesIn(output_), report->samples()) << name;
  }
}

}  // namespace
}  // namespace perftape::rewrite
