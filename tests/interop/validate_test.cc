// SPDX-License-Identifier: Apache-2.0
// The rules against perf 6.1 on files made for the purpose: it refuses what they say it refuses,
// and reads what they let pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "formats/base/output_file.h"
#include "tests/formats/perfdata/validate/judged.h"
#include "tests/support/excess.h"
#include "tests/support/temp_dir.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kUsual = kIdentifier | kIp | kTid | kTime;

std::string OutputOf(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  for (std::array<char, 256> part = {}; std::fgets(part.data(), part.size(), pipe) != nullptr;) {
    text += part.data();
  }
  pclose(pipe);
  return text;
}

struct Case {
  const char* name;
  PerfDataBuilder (*make)();
};

PerfDataBuilder WithRecord(RecordType type, std::vector<std::uint64_t> words) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file);
  file.AddHeaderOnly({.type = type, .size = static_cast<std::uint16_t>(8 + 8 * words.size())});
  file.AddRaw(std::as_bytes(std::span(words)));
  AddGoodSample(file);
  return file;
}

PerfDataBuilder OfTwoEvents(EventOptions first, EventOptions second) {
  first.name = "a";
  second.name = "b";
  PerfDataBuilder file = GoodFile({first, second});
  AddGoodSample(file);
  AddGoodSample(file, {.event = 1});
  return file;
}

PerfDataBuilder OfEvent(const EventOptions& event) {
  PerfDataBuilder file = GoodFile({event});
  AddGoodSample(file);
  return file;
}

PerfDataBuilder OfEventWithoutSamples(const EventOptions& event) {
  return GoodFile({event});
}

class ValidateInterop : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!OutputOf("perf --version 2>/dev/null").starts_with("perf version 6.1.")) {
      GTEST_SKIP() << "perf 6.1 is not installed";
    }
  }
};

TEST_P(ValidateInterop, AgreesWithPerf) {
  PerfDataBuilder file = GetParam().make();
  const std::vector<std::byte> bytes = file.Build();
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory.path() / "perf.data").value();
  ASSERT_TRUE(out.Write(bytes));
  ASSERT_TRUE(std::move(out).Commit());

  const std::string command =
      "PERF_CONFIG=/dev/null HOME=/nonexistent timeout 60 perf script -F comm,ip -i " +
      (directory.path() / "perf.data").native() + " >/dev/null 2>&1";
  const bool perf_reads = std::system(command.c_str()) == 0;
  const Report report = Judge(bytes);
  EXPECT_EQ(perf_reads, !Overlap(report.broken(), Readers::kPerf61))
      << testing::PrintToString(RulesOf(report));
}

INSTANTIATE_TEST_SUITE_P(
    OnMadeFiles, ValidateInterop,
    testing::Values(
        Case{"Good", [] { return OfEvent({}); }},
        Case{"GoodOfTwoEvents", [] { return OfTwoEvents({}, {}); }},
        Case{"Attr128", [] { return OfEvent({.attr_size = 128}); }},
        Case{"Attr136", [] { return OfEvent({.attr_size = 136}); }},
        Case{"SameId", [] { return OfTwoEvents({.ids = {5}}, {.ids = {5}}); }},
        Case{"IdUnrecorded",
             [] {
               return OfTwoEvents({.sample_type = kIp | kTid | kTime},
                                  {.sample_type = kIp | kTid | kTime});
             }},
        Case{"IdPosition",
             [] {
               return OfTwoEvents({.sample_type = kId | kIp | kTid | kTime},
                                  {.sample_type = kId | kIp | kTid | kTime | kAddr});
             }},
        Case{"SampleIdAll", [] { return OfTwoEvents({}, {.flags = 0}); }},
        Case{"TrailersDiffer",
             [] { return OfTwoEvents({.sample_type = kUsual}, {.sample_type = kUsual | kCpu}); }},
        Case{"ReadWithoutId",
             [] { return OfEventWithoutSamples({.sample_type = kUsual | kRead}); }},
        Case{"ReadWithId",
             [] {
               return OfEventWithoutSamples(
                   {.sample_type = kUsual | kRead, .read_format = kReadId});
             }},
        Case{"Tracepoint", [] { return OfEvent({.type = kTypeTracepoint, .config = 300}); }},
        Case{"UnknownBit",
             [] { return OfEvent({.sample_type = kUsual | std::uint64_t{1} << 40}); }},
        Case{"NoTime", [] { return OfEvent({.sample_type = kIp | kTid}); }},
        Case{"KernelType63",
             [] {
               return WithRecord(static_cast<RecordType>(63), {0, 0, 0, 0, 0, 0});
             }},
        Case{"CallchainDeferred",
             [] {
               return WithRecord(RecordType::kCallchainDeferred, {1, 0, 0, 0, 0, 0, 0});
             }},
        Case{"PrivateType", [] { return WithRecord(static_cast<RecordType>(32769), {}); }},
        Case{"SchedstatCpu",
             [] {
               return WithRecord(RecordType::kSchedstatCpu, {0, 0});
             }},
        Case{"StatTooSmall", [] { return WithRecord(RecordType::kStat, {1}); }},
        Case{"ThreadMapOverrun",
             [] {
               return WithRecord(RecordType::kThreadMap, {~std::uint64_t{0}, 1, 2, 3});
             }},
        Case{"SampleOverrun", [] { return WithRecord(RecordType::kSample, {101}); }},
        Case{"IdIndex",
             [] {
               return WithRecord(RecordType::kIdIndex, {1, 999, 0, 0, 7});
             }},
        Case{"SizeExcess",
             [] {
               PerfDataBuilder file = OfTwoEvents({}, {});
               const SampleId trailer = {.time = 1, .id = 101};
               file.AddRaw(
                   RecordWithExcess(BpfEvent{.event_type = 1}, trailer, file.format(0), 64));
               return file;
             }},
        Case{"SizeExcessOfZeros",
             [] {
               PerfDataBuilder file = OfTwoEvents({}, {});
               const SampleId trailer = {.time = 1, .id = 101};
               file.AddRaw(RecordWithExcess(BpfEvent{.event_type = 1}, trailer, file.format(0), 64,
                                            std::byte{0}));
               return file;
             }},
        Case{"IdUnknown",
             [] {
               PerfDataBuilder file = OfTwoEvents({}, {});
               file.Add(Comm{.pid = 7, .tid = 7, .comm = "x"}, SampleId{.id = 999});
               return file;
             }},
        Case{"MmapEmpty",
             [] {
               PerfDataBuilder file = OfEvent({});
               file.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .length = 0, .path = "/x"});
               return file;
             }},
        Case{"PipeWithABadFeature",
             [] {
               PerfDataBuilder file(Container::kPipe);
               file.AddEvent();
               file.AddFeature(FeatureBit::kHostname,
                               RawFeature{std::vector<std::byte>(4, std::byte{0xff})});
               return file;
             }}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace perftape::perfdata
