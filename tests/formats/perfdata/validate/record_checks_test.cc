// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/record_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"
#include "tests/support/excess.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// Adds a record with `words` as its payload.
void AddWords(PerfDataBuilder& file, RecordType type, std::vector<std::uint64_t> words,
              std::uint16_t unaligned = 0) {
  const auto size = static_cast<std::uint16_t>(8 + 8 * words.size() + unaligned);
  file.AddHeaderOnly({.type = type, .size = size});
  file.AddRaw(std::as_bytes(std::span(words)));
  file.AddRaw(std::vector<std::byte>(unaligned));
}

TEST(RecordChecks, ReportASizeThatIsNoMultipleOf8) {
  PerfDataBuilder file = GoodFile();
  AddWords(file, RecordType::kThreadMap, {0}, 1);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-size-alignment"));
  EXPECT_EQ(report.broken(), Readers::kPerf73);
  EXPECT_EQ(report.InFileOrder().at(0).message, "THREAD_MAP has 17 bytes, not a multiple of 8");
}

TEST(RecordChecks, ReportASizeBeyondTheTrailer) {
  const SampleId trailer = {.time = 1, .id = 101};
  const BpfEvent load = {.event_type = 1, .id = 3};
  PerfDataBuilder one = GoodFile();
  one.AddRaw(RecordWithExcess(load, trailer, one.format(0), 64));
  const Report report = Judge(one);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-size-excess"));
  EXPECT_EQ(report.InFileOrder().at(0).message, "BPF_EVENT has 56 bytes, but header.size is 120");
  EXPECT_EQ(report.broken(), Readers::kNone);  // of one event: perf asks for no id

  PerfDataBuilder two = GoodFile({{}, {.name = "other"}});
  two.AddRaw(RecordWithExcess(load, trailer, two.format(0), 64, std::byte{0}));
  EXPECT_THAT(RulesOf(Judge(two)), ElementsAre("record-size-excess"));  // id 0: the first event
  two.AddRaw(RecordWithExcess(load, trailer, two.format(0), 64));
  const Report refused = Judge(two);
  EXPECT_THAT(RulesOf(refused), ElementsAre("record-size-excess", "record-id-unknown"));
  EXPECT_TRUE(Overlap(refused.broken(), Readers::kPerf61));
}

TEST(RecordChecks, AllowTheTypesThatWereNeverAligned) {
  PerfDataBuilder file = GoodFile();
  AddWords(file, RecordType::kHeaderFeature, {3}, 5);
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

TEST(RecordChecks, ReportARecordBelowItsMinimumSize) {
  PerfDataBuilder file = GoodFile();
  AddWords(file, RecordType::kStat, {1});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("record-too-small"));
}

TEST(RecordChecks, ReportUnknownKernelTypes) {
  for (const std::uint32_t type : {0U, 23U, 63U}) {
    PerfDataBuilder file = GoodFile();
    AddWords(file, static_cast<RecordType>(type), {});
    const Report report = Judge(file);
    EXPECT_THAT(RulesOf(report), ElementsAre("record-type-unknown")) << type;
    EXPECT_TRUE(Overlap(report.broken(), Readers::kPerf73)) << type;
  }
}

TEST(RecordChecks, ReportToolTypesThatOldPerfRejects) {
  PerfDataBuilder file = GoodFile();
  AddWords(file, static_cast<RecordType>(32769), {});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-type-private"));
  EXPECT_FALSE(Overlap(report.broken(), Readers::kPerf73));
}

TEST(RecordChecks, ReportTypesNewerThanPerf612) {
  PerfDataBuilder file = GoodFile();
  AddWords(file, RecordType::kSchedstatCpu, {0, 0});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-type-newer"));
  EXPECT_FALSE(Overlap(report.broken(), Readers::kHotspot));
}

TEST(RecordChecks, NoteTypesThatAreNewerThanPerf510) {
  PerfDataBuilder file = GoodFile();
  file.Add(FinishedInit{});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("record-type-newer-than-5.10"));
}

TEST(RecordChecks, ReportANameWithoutNul) {
  PerfDataBuilder file = GoodFile({{.flags = 0}});
  AddWords(file, RecordType::kComm, {0x700000007, 0x4141414141414141});
  EXPECT_THAT(RulesOf(Judge(file)), Contains("record-name-unterminated"));
}

TEST(RecordChecks, ReportANameThatEndsInTheTrailer) {
  PerfDataBuilder file = GoodFile();
  const SampleFormat format = file.format(0);
  std::vector<std::uint64_t> words = {0x700000007, 0x4141414141414141};
  words.resize(words.size() + format.trailer_size() / 8);
  AddWords(file, RecordType::kComm, words);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("record-name-in-trailer"));
}

// RHEL 7.0 wrote no protection and no flags. perf looks for the name after them.
TEST(RecordChecks, JudgeTheMmap2OfRhel7AsPerfReadsIt) {
  std::uint64_t name = 0;
  std::memcpy(&name, "/bin/a", 6);
  const std::vector<std::uint64_t> words = {0x700000007, 0x1000, 0x1000, 0, 1, 2, 3, name};
  PerfDataBuilder without_trailer = GoodFile({{.flags = 0}});
  AddWords(without_trailer, RecordType::kMmap2, words);
  EXPECT_THAT(RulesOf(Judge(without_trailer)), Contains("record-too-small"));

  PerfDataBuilder with_trailer = GoodFile();
  std::vector<std::uint64_t> longer = words;
  longer.resize(longer.size() + with_trailer.format(0).trailer_size() / 8);
  AddWords(with_trailer, RecordType::kMmap2, longer);
  EXPECT_THAT(RulesOf(Judge(with_trailer)), Contains("record-name-in-trailer"));
}

TEST(RecordChecks, ReportCountsLargerThanTheRecord) {
  PerfDataBuilder file = GoodFile({{.flags = 0}});
  AddWords(file, RecordType::kNamespaces, {0x700000007, 8});
  AddWords(file, RecordType::kThreadMap, {~std::uint64_t{0}, 1, 2, 3});
  AddWords(file, RecordType::kTextPoke, {0x1000, 0x00100010});
  std::vector<std::uint64_t> metadata(65);
  metadata.back() = 1;
  AddWords(file, RecordType::kBpfMetadata, metadata);
  EXPECT_EQ(Judge(file).tally(Rule::kRecordPayloadOverrun).count, 4U);
}

TEST(RecordChecks, ReportARecordWithoutAnEvent) {
  PerfDataBuilder file = GoodFile({{.name = "a"}, {.name = "b"}});
  file.Add(Comm{.pid = 7, .tid = 7, .comm = "x"}, SampleId{.pid = 7, .tid = 7, .id = 999});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("record-id-unknown"));
}

TEST(RecordChecks, IgnoreTheIdWhereThereIsOneEvent) {
  PerfDataBuilder file = GoodFile();
  file.Add(Comm{.pid = 7, .tid = 7, .comm = "x"}, SampleId{.pid = 7, .tid = 7, .id = 999});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata
