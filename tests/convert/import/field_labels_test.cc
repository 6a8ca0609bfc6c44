// SPDX-License-Identifier: Apache-2.0
#include "convert/import/field_labels.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <cstring>

#include "convert/model/sample_thread.h"
#include "formats/perfdata/latency_probes.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/tracing_data.h"

namespace perftape::convert {
namespace {

using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kOtherFormat =
    "name: other\nID: 78\nformat:\n"
    "\tfield:u8 reason;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:char text[4];\toffset:4;\tsize:4;\tsigned:0;\n";

// Two tracepoints, 77 with the fields of kWakeFormat, and a clock.
PerfDataBuilder ThreeEvents() {
  constexpr std::uint64_t kFields = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid;
  PerfDataBuilder file;
  for (const std::uint64_t id : {77U, 78U}) {
    file.AddEvent(
        {.type = perfdata::kTypeTracepoint, .config = id, .sample_type = kFields | perfdata::kRaw});
  }
  file.AddEvent({.sample_type = kFields});
  file.AddFeature(FeatureBit::kTracingData, perfdata::RawFeature{perfdata::TracingDataOf(
                                                {{"x", {perfdata::kWakeFormat, kOtherFormat}}})});
  return file;
}

// "reason=9 9", with the unit after the value; a text in quotes.
std::vector<std::string> LabelsOf(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    std::string line = std::to_string(sample.count) + ':';
    for (const Label& label : profile[sample.labels]) {
      line += ' ' + std::string(profile.text(label.key)) + '=';
      line += label.text == StringId{}
                  ? std::to_string(label.number) + ' ' + std::string(profile.text(label.unit))
                  : '"' + std::string(profile.text(label.text)) + '"';
    }
    lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::byte> OtherRaw(std::string_view text) {
  std::vector<std::byte> raw(8);
  for (std::size_t i = 0; i < text.size(); ++i) raw[4 + i] = static_cast<std::byte>(text[i]);
  return raw;
}

TEST(FieldLabels, AreNumbersAndTextsOfTheSamplesThatHaveThem) {
  PerfDataBuilder file = ThreeEvents();
  file.AddSample({.raw = perfdata::WakeRaw()});
  file.AddSample({.event = 1, .raw = OtherRaw("abc")});
  file.AddSample({.event = 2});
  const Profile profile = Import(file, {.field_labels = {"name", "reason", "ports"}}).profile;
  EXPECT_THAT(LabelsOf(profile),
              ElementsAre("1:", R"(1: name="disk" ports="{0x50,0x1bb}" reason=9 reason)",
                          "1: reason=0 reason"));
}

TEST(FieldLabels, KeepSamplesOfDifferentValuesApart) {
  PerfDataBuilder file = ThreeEvents();
  for (const std::string_view text : {"a", "b", "a", ""}) {
    file.AddSample({.event = 1, .raw = OtherRaw(text)});
  }
  EXPECT_THAT(LabelsOf(Import(file, {.field_labels = {"text"}}).profile),
              ElementsAre("1:", R"(1: text="b")", R"(2: text="a")"));
  EXPECT_THAT(LabelsOf(Import(file).profile), ElementsAre("4:"));
}

TEST(FieldLabels, HaveOtherKeysThanTheLabelsOfThreads) {
  PerfDataBuilder file = ThreeEvents();
  file.AddSample({.pid = 7, .tid = 7, .raw = perfdata::WakeRaw()});
  const Profile profile = Import(file, {.field_labels = {"pid"}}).profile;
  EXPECT_THAT(LabelsOf(profile), ElementsAre("1: field:pid=-1 field:pid"));
  EXPECT_EQ(profile[profile.samples()[0].thread].pid, 7U);
}

TEST(FieldLabels, AreMissingWhereRawIsTooShort) {
  PerfDataBuilder file = ThreeEvents();
  std::vector<std::byte> raw = perfdata::WakeRaw();
  raw.resize(12);
  file.AddSample({.raw = raw});
  EXPECT_THAT(LabelsOf(Import(file, {.field_labels = {"name", "reason", "pid"}}).profile),
              ElementsAre("1: field:pid=-1 field:pid"));
}

TEST(FieldLabels, DoNotDependOnTheNumberOfThreads) {
  PerfDataBuilder file = ThreeEvents();
  for (int i = 0; i < 60000; ++i) {
    file.AddSample({.event = 1, .raw = OtherRaw(std::to_string(i % 7))});
  }
  ImportOptions options;
  options.field_labels = {"text", "reason"};
  const std::vector<std::string> expected = LabelsOf(Import(file, options).profile);
  EXPECT_EQ(expected.size(), 7U);
  options.threads = 4;
  EXPECT_EQ(LabelsOf(Import(file, options).profile), expected);
}

TEST(FieldLabels, TheReportNamesTheFieldsOfAllEvents) {
  PerfDataBuilder file = ThreeEvents();
  EXPECT_THAT(Import(file).report.fields, IsEmpty());
  EXPECT_THAT(Import(file, {.field_labels = {"x"}}).report.fields,
              ElementsAre("common_type", "name", "pid", "ports", "reason", "skaddr", "text"));
}

// A recording of a slow openat on a machine of `arch`.
PerfDataBuilder SlowOpen(const std::string& arch) {
  constexpr std::uint64_t kFields = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid;
  constexpr std::uint64_t kNumber = perfdata::kFirstLatencyEvent;
  const std::string format =
      perfdata::LatencyFormat(*perfdata::FindLatencyProbe("syscall"), "latency:syscall", kNumber);
  PerfDataBuilder file;
  file.AddEvent({.type = perfdata::kTypeTracepoint,
                 .config = kNumber,
                 .sample_type = kFields | perfdata::kRaw});
  file.AddFeature(
      FeatureBit::kTracingData,
      perfdata::RawFeature{perfdata::TracingDataOf({{perfdata::kLatencySystem, {format}}})});
  file.AddFeature(FeatureBit::kArch, perfdata::TextFeature{arch});
  std::vector<std::byte> raw(64);
  const std::int64_t call = SYS_openat;
  std::memcpy(raw.data() + perfdata::kNumberField.offset, &call, sizeof call);
  file.AddSample({.raw = raw});
  return file;
}

TEST(FieldLabels, OfASystemCallAreItsNameIfTheArchitectureIsThatOfTheTable) {
  utsname machine = {};
  ASSERT_EQ(uname(&machine), 0);
  const auto labels = [](const std::string& arch) {
    return LabelsOf(Import(SlowOpen(arch), {.field_labels = {"nr"}}).profile);
  };
  EXPECT_THAT(labels(machine.machine), ElementsAre("1: nr=\"openat\""));
  EXPECT_THAT(labels("riscv64"), ElementsAre("1: nr=" + std::to_string(SYS_openat) + " nr"));
}

}  // namespace
}  // namespace perftape::convert
