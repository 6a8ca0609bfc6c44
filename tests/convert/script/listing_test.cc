// SPDX-License-Identifier: Apache-2.0
#include "convert/script/listing.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::listing {
namespace {

using perfdata::kContextKernel;
using perfdata::kContextUser;
using perfdata::PerfDataBuilder;

// Returns the text for a file without names.
std::string TextOf(PerfDataBuilder& file, Options options = {}) {
  file.AddFeature(perfdata::FeatureBit::kEventDesc, file.Description());
  const perfdata::Reader reader = file.Open();
  EXPECT_TRUE(options.fields.Fit(reader.events()).has_value());
  convert::ImportReport report;
  const convert::FirstPass first_pass = convert::RunFirstPass(reader, {}, report);
  Listing listing(reader, first_pass, options);
  listing.Collect();
  listing.frames().LeaveUnnamed();
  std::string text;
  EXPECT_TRUE(listing.Print([&](std::string_view, std::string_view lines) -> Status {
    text += lines;
    return {};
  }));
  return text;
}

constexpr std::uint64_t kPlain = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid |
                                 perfdata::kTime | perfdata::kCpu | perfdata::kPeriod;

PerfDataBuilder TwoSamples() {
  PerfDataBuilder file;
  file.AddEvent({.name = "cpu-clock", .sample_type = kPlain});
  file.AddComm({.pid = 7, .tid = 8, .comm = "worker"});
  file.AddSample(
      {.ip = 0x401136, .pid = 7, .tid = 8, .time = 12'345'678'901, .cpu = 3, .period = 9});
  file.AddSample(
      {.ip = 0x401140, .pid = 7, .tid = 9, .time = 12'345'679'902, .cpu = 3, .period = 9});
  return file;
}

TEST(Listing, PrintsASampleInALine) {
  PerfDataBuilder file = TwoSamples();
  EXPECT_EQ(TextOf(file),
            "          worker     8 [003]    12.345678:          9 cpu-clock:      "
            "      401136 [unknown] ([unknown])\n"
            "              :9     9 [003]    12.345679:          9 cpu-clock:      "
            "      401140 [unknown] ([unknown])\n");
}

TEST(Listing, PrintsTimesInThreeForms) {
  Options options;
  std::vector<std::string> warnings;
  ASSERT_TRUE(options.fields.Change("time", warnings).has_value());
  options.time_digits = TimeDigits::kNanoseconds;
  PerfDataBuilder absolute = TwoSamples();
  EXPECT_EQ(TextOf(absolute, options), "   12.345678901: \n   12.345679902: \n");
  for (const TimeForm form : {TimeForm::kSinceFirst, TimeForm::kSincePrevious}) {
    options.time_form = form;
    PerfDataBuilder file = TwoSamples();
    EXPECT_EQ(TextOf(file, options), "    0.000000000: \n    0.000001001: \n");
  }
}

TEST(Listing, PrintsTheIdsOfNewerVersionsWider) {
  Options options;
  std::vector<std::string> warnings;
  ASSERT_TRUE(options.fields.Change("pid,tid", warnings).has_value());
  PerfDataBuilder older = TwoSamples();
  EXPECT_EQ(TextOf(older, options), "    7/8     \n    7/9     \n");
  options.style = Style::kPerf73;
  PerfDataBuilder newer = TwoSamples();
  EXPECT_EQ(TextOf(newer, options), "      7/8       \n      7/9       \n");
}

TEST(Listing, SelectsSamples) {
  Options options;
  std::vector<std::string> warnings;
  ASSERT_TRUE(options.fields.Change("tid", warnings).has_value());
  options.selection.comms = {"worker"};
  PerfDataBuilder by_comm = TwoSamples();
  EXPECT_EQ(TextOf(by_comm, options), "    8 \n");
  options.selection = {};
  options.selection.tids = {9};
  PerfDataBuilder by_tid = TwoSamples();
  EXPECT_EQ(TextOf(by_tid, options), "    9 \n");
  options.selection = {};
  options.selection.cpus = {0, 1};
  PerfDataBuilder by_cpu = TwoSamples();
  EXPECT_EQ(TextOf(by_cpu, options), "");
}

PerfDataBuilder OneChain() {
  PerfDataBuilder file;
  file.AddEvent({.name = "cpu-clock", .sample_type = kPlain | perfdata::kCallchain});
  file.AddSample({.ip = 0x401136,
                  .pid = 7,
                  .tid = 8,
                  .time = 1,
                  .callchain = {kContextUser, 0x401136, 0x402000, 0x403000}});
  return file;
}

TEST(Listing, PrintsACallchainBelowItsSample) {
  Options options;
  std::vector<std::string> warnings;
  ASSERT_TRUE(options.fields.Change("comm,ip,dso", warnings).has_value());
  options.max_stack = 2;
  PerfDataBuilder file = OneChain();
  EXPECT_EQ(TextOf(file, options),
            ":8 \n\t          401136 ([unknown])\n\t          402000 ([unknown])\n\n");
  options.call_graph = CallGraph::kHidden;
  PerfDataBuilder hidden = OneChain();
  EXPECT_EQ(TextOf(hidden, options), "              :8            401136 ([unknown])\n");
}

TEST(Listing, PrintsRecordsWithTheStateOfTheirTime) {
  Options options;
  std::vector<std::string> warnings;
  ASSERT_TRUE(options.fields.Change("comm,tid", warnings).has_value());
  options.records = {ShownRecord::kTask};
  PerfDataBuilder file = TwoSamples();
  EXPECT_THAT(TextOf(file, options), testing::HasSubstr("PERF_RECORD_COMM: worker:7/8\n"));
}

}  // namespace
}  // namespace perftape::listing
