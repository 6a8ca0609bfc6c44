// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/pipe_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::endian kForeign =
    std::endian::native == std::endian::little ? std::endian::big : std::endian::little;

// Returns the rules that these records of a pipe with one event break.
std::vector<std::string> RulesOfPipe(const std::vector<RecordView>& records,
                                     const EventOptions& event = {}) {
  PerfDataBuilder file(Container::kPipe);
  file.AddEvent(event);
  const Reader reader = file.Open();
  Report report;
  PipeChecks checks(reader, report);
  for (const RecordView& record : records) checks.Check(record, &reader.events()[0]);
  return RulesOf(report);
}

TEST(PipeChecks, ReportATraceInAPipe) {
  const std::byte trace[16] = {};
  const RecordView record = {.type = RecordType::kAuxtrace, .appended = trace};
  EXPECT_THAT(RulesOfPipe({record}), ElementsAre("pipe-auxtrace", "pipe-stats"));
  EXPECT_THAT(RulesOfPipe({{.type = RecordType::kAuxtrace}}), IsEmpty());
}

TEST(PipeChecks, ReportFeaturesOfTheOtherByteOrder) {
  const RecordView record = {.type = RecordType::kHeaderFeature, .order = kForeign};
  EXPECT_THAT(RulesOfPipe({record, record}), ElementsAre("pipe-foreign-features"));
  EXPECT_THAT(RulesOfPipe({{.type = RecordType::kHeaderFeature}}), IsEmpty());
}

TEST(PipeChecks, ReportCompressedRecordsOfTheOtherByteOrder) {
  const RecordView record = {.type = RecordType::kCompressed, .order = kForeign};
  EXPECT_THAT(RulesOfPipe({record}), ElementsAre("pipe-foreign-compressed", "pipe-stats"));
  EXPECT_THAT(RulesOfPipe({{.type = RecordType::kCompressed}}), ElementsAre("pipe-stats"));
}

TEST(PipeChecks, ReportTracepointsOfTheOtherByteOrder) {
  const RecordView sample = {.type = RecordType::kSample, .order = kForeign};
  EXPECT_THAT(RulesOfPipe({sample}), IsEmpty());
  const EventOptions with_data = {.sample_type = kIdentifier | kIp | kTid | kTime | kRaw};
  EXPECT_THAT(RulesOfPipe({sample}, with_data), ElementsAre("pipe-foreign-raw"));
  EXPECT_THAT(RulesOfPipe({{.type = RecordType::kSample}}, with_data), IsEmpty());
}

TEST(PipeChecks, LetTheSameRecordsPassInAFile) {
  PerfDataBuilder file;
  file.AddEvent();
  const Reader reader = file.Open();
  const std::byte trace[16] = {};
  Report report;
  PipeChecks checks(reader, report);
  checks.Check({.type = RecordType::kAuxtrace, .appended = trace}, nullptr);
  checks.Check({.type = RecordType::kCompressed, .order = kForeign}, nullptr);
  EXPECT_THAT(RulesOf(report), IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata
