// SPDX-License-Identifier: Apache-2.0
// Compares the rules with perf 6.1: MANIFEST.tsv and EXPECT-*.tsv of the corpus contain its result
// for each recording, good or damaged. If perf refuses a file, an error must predict it; if it
// reads everything, no error may predict a failure.
#include "tests/support/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/input.h"
#include "formats/perfdata/validate/validate.h"

namespace perftape::perfdata {
namespace {

// The rows of a table, each cell by the name of its column in the first line.
using Row = std::map<std::string, std::string>;
std::vector<Row> ReadTable(const std::filesystem::path& path) {
  std::istringstream lines(ReadWholeFile(path).value());
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::vector<std::string> values;
    for (std::string cell; std::getline(cells, cell, '\t');) values.push_back(cell);
    if (columns.empty()) {
      columns = values;
      continue;
    }
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size() && i < values.size(); ++i) {
      row[columns[i]] = values[i];
    }
  }
  return rows;
}

enum class Verdict : std::uint8_t { kReads, kRefuses };

// Returns the result of perf 6.1 that our rules predict; `why` gets the names of these rules.
Verdict Judge(const std::filesystem::path& path, std::string& why) {
  Result<Input> input = Input::Open(path);
  const auto reader = input ? Reader::Open(*input) : Result<Reader>(std::unexpect);
  if (!reader) {
    why = "it does not open";
    return Verdict::kRefuses;
  }
  const Report report = Validate(*reader);
  for (const RuleInfo& info : AllRules()) {
    const Report::Tally& tally = report.tally(info.rule);
    if (info.severity != Severity::kError || !Overlap(tally.breaks, Readers::kPerf61)) continue;
    why.append(why.empty() ? "" : " ").append(info.name);
  }
  return why.empty() ? Verdict::kReads : Verdict::kRefuses;
}

struct Confusion {
  int both_read = 0, both_refuse = 0, only_we_refuse = 0, only_perf_refuses = 0;
};

// Compares the prediction for a file with perf's result. If they differ, the file must be in
// `exceptions`.
void Compare(const std::filesystem::path& path, Verdict of_perf,
             const std::map<std::string, std::string>& exceptions, Confusion& confusion) {
  std::string why;
  const Verdict ours = Judge(path, why);
  if (ours == of_perf) {
    ++(ours == Verdict::kReads ? confusion.both_read : confusion.both_refuse);
    EXPECT_FALSE(exceptions.contains(path.filename())) << path << " is no exception any more";
    return;
  }
  ++(ours == Verdict::kRefuses ? confusion.only_we_refuse : confusion.only_perf_refuses);
  EXPECT_TRUE(exceptions.contains(path.filename()))
      << path
      << (of_perf == Verdict::kReads ? ": perf 6.1 reads it, but: " + why
                                     : ": perf 6.1 refuses it, and no rule says so");
}

class ValidateCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (CorpusDirectory().empty()) GTEST_SKIP() << kNoCorpus;
  }
  void Tell(const Confusion& confusion) {
    RecordProperty("both_read", confusion.both_read);
    RecordProperty("both_refuse", confusion.both_refuse);
    RecordProperty("only_we_refuse", confusion.only_we_refuse);
    RecordProperty("only_perf_refuses", confusion.only_perf_refuses);
  }
};

TEST_F(ValidateCorpus, ErrorsForPerf61AreOfTheRecordingsThatItRefuses) {
  Confusion confusion;
  for (const Row& row : ReadTable(CorpusDirectory() / "perfdata/MANIFEST.tsv")) {
    // "yes", "no-samples": perf reads everything. "normalized": only after rewriting.
    const std::string& reads = row.at("perf61_reads");
    const Verdict of_perf =
        reads == "yes" || reads == "no-samples" ? Verdict::kReads : Verdict::kRefuses;
    Compare(CorpusDirectory() / "perfdata" / (row.at("name") + ".perf.data"), of_perf, {},
            confusion);
  }
  Tell(confusion);
  EXPECT_GT(confusion.both_read, 60);
  EXPECT_GT(confusion.both_refuse, 5);
}

TEST_F(ValidateCorpus, ErrorsForPerf61AreOfTheDamagedFilesThatItRefuses) {
  const std::map<std::string, std::string> exceptions = {
      // perf script exits with 0, but shows only some of the samples, or another command of perf
      // refuses:
      {"a-auxtrace-size-beyond.data", "the trace that is missing is not asked for"},
      {"f-data-size-minus8.data", "names and features are gone; this EVENT_DESC does not crash it"},
      {"p-feature-id-300.data", "perf report refuses it"},
      {"p-header-only.data", "there is nothing in it"},
      {"z-partial-never-completed.data", "its only record is missing"},
      {"fuzz-00-9740166144.data", "there is nothing in it"},
      {"fuzz-03-2f22e86511.data", "there is nothing in it"},
      {"fuzz-18-2872212b9d.data", "there is nothing in it"},
      // perf script refuses to print the ip, which is not recorded:
      {"fuzz-13-5cb23940e5.data", "event-ip-missing is a warning, perf report reads such a file"},
      {"fuzz-24-424ca34dc5.data", "event-ip-missing is a warning, perf report reads such a file"},
  };
  Confusion confusion;
  for (const char* kind : {"made", "fuzz"}) {
    const std::filesystem::path directory = CorpusDirectory() / "corrupt" / kind;
    const std::string table = std::string("EXPECT-") + kind + ".tsv";
    for (const Row& row : ReadTable(CorpusDirectory() / "corrupt" / table)) {
      const Verdict of_perf =
          row.at("perf61_script_exit") == "0" ? Verdict::kReads : Verdict::kRefuses;
      Compare(directory / row.at("file"), of_perf, exceptions, confusion);
    }
  }
  Tell(confusion);
  EXPECT_GT(confusion.both_refuse, 80);
}

}  // namespace
}  // namespace perftape::perfdata
