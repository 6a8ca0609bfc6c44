// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/perfdata/rounds.h"
#include "formats/perfdata/transcode.h"
#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/compressed.h"
#include "tests/support/excess.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

constexpr Ksymbol kProgram = {
    .address = 0xffffffffc0001000, .length = 200, .symbol_type = 1, .name = "bpf_prog_1_f"};
constexpr BpfEvent kLoad = {.event_type = 1, .id = 77, .tag = {1, 2, 3, 4, 5, 6, 7, 8}};
constexpr SampleId kTrailer = {.pid = 7, .tid = 8, .time = 5000, .id = 202, .cpu = 3};
constexpr std::size_t kTrailerSize = 32;  // TID, TIME, CPU, IDENTIFIER

// Returns a file of two events with the ids 101 and 202.
PerfDataBuilder TwoEvents(Container container = Container::kFile) {
  PerfDataBuilder file(container);
  file.AddEvent({.ids = {101}});
  file.AddEvent({.name = "dummy:HG", .config = kSoftwareDummy, .ids = {202}});
  return file;
}

template <class Record>
void AddWithExcess(PerfDataBuilder& file, const Record& value, std::size_t excess,
                   std::byte old = kOldRingByte) {
  file.AddRaw(RecordWithExcess(value, kTrailer, file.format(0), excess, old));
}

// Expects that the record is complete, a round follows, and it belongs to the second event.
void ExpectFound(const Reader& reader, std::size_t excess) {
  RecordCursor cursor = reader.records();
  const RecordView record = cursor.Next().value().value();
  EXPECT_EQ(record.excess, excess);
  const Event* event = reader.events().EventOf(record);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(reader.events().IndexOf(*event), 1U);
  const SampleId trailer = DecodeSampleId(record, event->format);
  EXPECT_EQ(trailer.time, kTrailer.time);
  EXPECT_EQ(trailer.tid, kTrailer.tid);
  EXPECT_EQ(trailer.cpu, kTrailer.cpu);
  EXPECT_EQ(TimeOf(record, event->format), kTrailer.time);
  const RecordView next = cursor.Next().value().value();
  EXPECT_EQ(next.type, RecordType::kFinishedRound);
  EXPECT_EQ(next.excess, 0U);
  EXPECT_EQ(next.file_offset, record.file_offset + record.stored_size());
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

TEST(KernelSize, FindsTheTrailerBehindTheBodyOfAKsymbol) {
  for (const std::size_t excess : {0U, 8U, 32U, 64U, 992U}) {
    PerfDataBuilder file = TwoEvents();
    AddWithExcess(file, kProgram, excess);
    file.AddRound();
    ExpectFound(file.Open(), excess);
  }
}

TEST(KernelSize, FindsTheTrailerBehindTheBodyOfABpfEvent) {
  PerfDataBuilder file = TwoEvents();
  AddWithExcess(file, kLoad, 64);
  file.AddRound();
  ExpectFound(file.Open(), 64);
}

TEST(KernelSize, FindsTheTrailerBehindTheBytesOfATextPoke) {
  const std::byte bytes[10] = {};
  PerfDataBuilder file = TwoEvents();
  AddWithExcess(file, TextPoke{.address = 1, .old_length = 5, .new_length = 5, .bytes = bytes}, 96);
  file.AddRound();
  ExpectFound(file.Open(), 96);
}

TEST(KernelSize, FindsTheTrailerInAPipe) {
  PerfDataBuilder file = TwoEvents(Container::kPipe);
  const std::size_t head = file.Build().size();
  AddWithExcess(file, kProgram, 32);
  const Reader reader = file.Open();
  RecordCursor cursor = reader.records();
  RecordView record;
  while (record.type != RecordType::kKsymbol) record = cursor.Next().value().value();
  EXPECT_EQ(record.file_offset, head);
  EXPECT_EQ(record.excess, 32U);
  EXPECT_EQ(TimeOf(record, reader.events()[1].format), kTrailer.time);
}

TEST(KernelSize, FindsTheTrailerInACompressedRecord) {
  PerfDataBuilder records = TwoEvents();
  AddWithExcess(records, kLoad, 32);
  PerfDataBuilder file = TwoEvents();
  file.AddRaw(CompressedRecord(ZstdFrame(records.records())));
  const Reader reader = file.Open();
  RecordCursor cursor = reader.records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kCompressed));
  const RecordView record = cursor.Next().value().value();
  EXPECT_EQ(record.excess, 32U);
  EXPECT_EQ(TimeOf(record, reader.events()[1].format), kTrailer.time);
}

// The ring's old bytes may be the end of another record.
TEST(KernelSize, PrefersTheTrailerAfterTheBody) {
  PerfDataBuilder file = TwoEvents();
  std::vector<std::byte> record = RecordWithExcess(kProgram, kTrailer, file.format(0), 32);
  const std::uint64_t known = 101;
  std::memcpy(record.data() + record.size() - sizeof known, &known, sizeof known);
  file.AddRaw(record);
  file.AddRound();
  ExpectFound(file.Open(), 32);
}

// A writer other than the kernel may write this.
TEST(KernelSize, LeavesTheTrailerBehindANameThatIsPaddedFurther) {
  PerfDataBuilder file = TwoEvents();
  std::vector<std::byte> record = RecordWithExcess(kProgram, {}, file.format(0), 48, std::byte{0});
  std::vector<std::byte> whole = RecordWithExcess(kProgram, kTrailer, file.format(0), 0);
  std::copy_n(whole.end() - kTrailerSize, kTrailerSize, record.end() - kTrailerSize);
  file.AddRaw(record);
  file.AddRound();
  ExpectFound(file.Open(), 0);
}

TEST(KernelSize, LeavesPaddedRecordsThatHaveNoIdAndNoTime) {
  PerfDataBuilder file = TwoEvents();
  file.AddRaw(RecordWithExcess(kProgram, {}, file.format(0), 48, std::byte{0}));
  const RecordView record = file.Open().records().Next().value().value();
  EXPECT_EQ(record.excess, 0U);
}

TEST(KernelSize, FindsTheTrailerOfAnEventThatRecordsNoIds) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kIp | kTid | kTime | kCpu});
  AddWithExcess(file, kProgram, 24);
  const Reader reader = file.Open();
  const RecordView record = reader.records().Next().value().value();
  EXPECT_EQ(record.excess, 24U);
  EXPECT_EQ(TimeOf(record, reader.events()[0].format), kTrailer.time);
}

TEST(KernelSize, LeavesRecordsOfEventsWithoutATrailer) {
  PerfDataBuilder file;
  file.AddEvent({.flags = 0});
  AddWithExcess(file, kProgram, 32);
  EXPECT_EQ(file.Open().records().Next().value().value().excess, 0U);
}

// An event's own trailer may be longer than that of another event.
TEST(KernelSize, FindsTheTrailerOfTheEventThatHasTheId) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {101}});
  file.AddEvent({.sample_type = kIdentifier | kIp | kTid | kTime | kStreamId | kCpu, .ids = {202}});
  file.AddRaw(RecordWithExcess(kLoad, kTrailer, file.format(1), 40));
  file.AddRound();
  ExpectFound(file.Open(), 40);
}

TEST(KernelSize, LeavesOtherTypesAsTheyAre) {
  PerfDataBuilder file = TwoEvents();
  AddWithExcess(file, Comm{.pid = 7, .tid = 7, .comm = "a"}, 32);
  EXPECT_EQ(file.Open().records().Next().value().value().excess, 0U);
}

TEST(KernelSize, KeepsRecordsShorterThanTheirContents) {
  PerfDataBuilder file = TwoEvents();
  for (const RecordType type :
       {RecordType::kKsymbol, RecordType::kBpfEvent, RecordType::kTextPoke}) {
    const std::vector<std::byte> payload(64, std::byte{0xff});
    for (std::size_t size = 0; size <= payload.size(); ++size) {
      const RecordView record = {.type = type, .payload = Bytes(payload).first(size)};
      const RecordView cut = WithoutExcess(record, file.Open().events());
      EXPECT_EQ(cut.payload.size() + cut.excess, size);
      EXPECT_LE(KernelSize(record, file.format(0)), record.size());
    }
  }
}

TEST(KernelSize, WritesTheRecordAnewWithItsTrueSize) {
  PerfDataBuilder file = TwoEvents();
  AddWithExcess(file, kProgram, 64);
  const Reader reader = file.Open();
  RecordCursor cursor = reader.records();
  const RecordView record = cursor.Next().value().value();
  std::vector<std::byte> written;
  ASSERT_THAT(Transcode(record, &reader.events()[1].format, {}, written), IsOk());
  EXPECT_EQ(written, RecordWithExcess(kProgram, kTrailer, file.format(0), 0));
}

TEST(KernelSize, ReadsTheOtherByteOrder) {
  PerfDataBuilder file = TwoEvents();
  BigEndianBytes record;
  record.U16(1).U16(0).U32(77).U64(0x0102030405060708);             // { type; flags; id; tag }
  record.U32(7).U32(8).U64(5000).U32(3).U32(0).U64(202).Zeros(64);  // trailer, excess
  const RecordView view = {
      .type = RecordType::kBpfEvent, .payload = record.bytes(), .order = std::endian::big};
  const RecordView cut = WithoutExcess(view, file.Open().events());
  EXPECT_EQ(cut.excess, 64U);
  EXPECT_EQ(DecodeSampleId(cut, file.format(0)).time, 5000U);
}

TEST(KernelSize, KeepsTheRecordInTimeOrder) {
  PerfDataBuilder file = TwoEvents();
  AddWithExcess(file, kProgram, 32);  // with time 5000
  file.AddSample({.time = 4000});
  file.AddSample({.time = 6000});
  const Reader reader = file.Open();
  InTimeOrder records(reader.records(), reader.events());
  EXPECT_THAT(records.Next(), HasRecord(RecordType::kSample));
  EXPECT_THAT(records.Next(), HasRecord(RecordType::kKsymbol));
  EXPECT_EQ(records.event(), &reader.events()[1]);
  EXPECT_THAT(records.Next(), HasRecord(RecordType::kSample));
}

}  // namespace
}  // namespace perftape::perfdata
