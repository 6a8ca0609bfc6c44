// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"
#include "tests/support/tracing_data.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::EndsWith;
using testing::HasSubstr;

// Returns the text of the first record, without its offset.
std::string FirstText(PerfDataBuilder& file) {
  const perfdata::Reader reader = file.Open();
  const auto record = reader.records().Next();
  if (!record || !*record) return "no record";
  const std::string text = RecordText(**record, reader.events());
  return text.substr(text.find(' ') + 1);
}

TEST(RecordText, NamesTheFieldsOfAMapping) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kTid | perfdata::kTime});
  file.AddMmap({.pid = 7, .tid = 8, .start = 0x400000, .path = "/bin/ls", .time = 99});
  EXPECT_THAT(
      FirstText(file),
      testing::AllOf(HasSubstr("MMAP2 misc 0x2 size "),
                     HasSubstr(": pid 7 tid 8 start 0x400000 length 0x1000 page_offset 0x0"),
                     EndsWith("filename \"/bin/ls\" | pid 7 tid 8 time 99")));
}

TEST(RecordText, ShowsTheBuildIdOfAMappingThatHasOne) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.path = "/bin/ls", .build_id = *BuildId::FromHex("00ff10ab")});
  EXPECT_THAT(FirstText(file), HasSubstr(" build_id 00ff10ab "));
}

TEST(RecordText, ShowsOnlyTheFieldsThatTheEventRecords) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kTime});
  file.AddSample({.ip = 0x10, .time = 5});
  EXPECT_EQ(FirstText(file), "SAMPLE misc 0x2 size 24: event cpu-clock:HG ip 0x10 time 5");
}

TEST(RecordText, ShowsContextMarkersByName) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kCallchain});
  file.AddSample({.callchain = {perfdata::kContextUser, 0x10, ~std::uint64_t{0}}});
  EXPECT_THAT(FirstText(file), EndsWith(" callchain [3] [user] 10 [-1]"));
}

TEST(RecordText, ShowsTheFieldsOfATracepoint) {
  PerfDataBuilder file;
  file.AddEvent({.type = perfdata::kTypeTracepoint, .config = 77, .sample_type = perfdata::kRaw});
  file.AddFeature(
      perfdata::FeatureBit::kTracingData,
      perfdata::RawFeature{perfdata::TracingDataOf({{"sched", {perfdata::kWakeFormat}}})});
  file.AddSample({.raw = perfdata::WakeRaw()});
  EXPECT_THAT(FirstText(file),
              EndsWith(" fields (name \"disk\" pid -1 reason 9 skaddr 0xffff888000000010 ports [2] "
                       "0x50 0x1bb)"));
}

TEST(RecordText, ShowsOnlyTheBytesOfATracepointWithoutFormat) {
  PerfDataBuilder file;
  file.AddEvent({.type = perfdata::kTypeTracepoint, .config = 78, .sample_type = perfdata::kRaw});
  file.AddFeature(
      perfdata::FeatureBit::kTracingData,
      perfdata::RawFeature{perfdata::TracingDataOf({{"sched", {perfdata::kWakeFormat}}})});
  file.AddSample({.raw = perfdata::WakeRaw()});
  EXPECT_THAT(FirstText(file), testing::Not(HasSubstr("fields")));
}

TEST(RecordText, EscapesNames) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp});
  file.AddComm({.pid = 7, .tid = 7, .comm = "a\x1b[2J"});
  EXPECT_THAT(FirstText(file), EndsWith("comm \"a\\x1b[2J\""));
}

TEST(RecordText, ShowsTheBytesOfAnUnknownType) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddHeaderOnly({.type = static_cast<RecordType>(4711), .size = 16});
  file.AddRaw(AsBytes("ABCDEFGH"));
  EXPECT_EQ(FirstText(file), "type 4711 misc 0x0 size 16: payload [8] 4142434445464748");
}

TEST(RecordText, ReportsATruncatedRecord) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddHeaderOnly({.type = RecordType::kFork, .size = 8});
  EXPECT_THAT(FirstText(file), HasSubstr("FORK misc 0x0 size 8: (cut off) payload [0]"));
}

TEST(RecordText, ReportsASampleWithoutAnEvent) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddEvent();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 16});
  file.AddRaw(AsBytes(std::string_view("\x7f\0\0\0\0\0\0\0", 8)));
  EXPECT_THAT(FirstText(file), HasSubstr("(of no known event)"));
}

}  // namespace
}  // namespace perftape::inspect
