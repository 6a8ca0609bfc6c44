// SPDX-License-Identifier: Apache-2.0
// Cuts recordings of five containers at their offsets and changes their first bytes. Whatever the
// damage, reading ends, reads no byte outside of the file, and does no more work than the bytes
// allow.
//
// A run tests some of the offsets, evenly spread; with PERFTAPE_FULL_SWEEP set, every offset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"
#include "formats/perfdata/validate/validate.h"
#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/compressed.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using Buffer = std::vector<std::byte>;

constexpr std::size_t kCutSize = 20'000;
constexpr std::size_t kFlipped = 4096;

// Returns the distance between tested offsets: a prime, so that all columns of the records are
// tested.
std::size_t Stride(std::size_t usual) {
  return std::getenv("PERFTAPE_FULL_SWEEP") != nullptr ? 1 : usual;
}

struct Outcome {
  bool opens = false;
  std::uint64_t records = 0;  // delivered by the cursor
  std::uint64_t samples = 0;  // decoded
  std::uint64_t rows = 0;     // counted for them
};

void CountRecords(const Reader& reader, Outcome& outcome) {
  Processes processes;
  Deliveries deliveries(reader.events());
  CallchainReader callchains;
  InTimeOrder cursor(reader.records(), reader.events());
  while (true) {
    const Result<std::optional<RecordView>> record = cursor.Next();
    if (!record || !*record) return;
    ++outcome.records;
    const RecordView& view = **record;
    const Event* event = reader.events().EventOf(view);
    if (event == nullptr) continue;
    processes.Apply(view, event->format);
    if (view.type != RecordType::kSample) continue;
    const Result<Sample> sample = DecodeSample(view, event->format);
    if (!sample) continue;
    ++outcome.samples;
    outcome.rows += deliveries.Of(*sample, *event).size();
    processes.Find(sample->pid, view.cpumode(), sample->ip);
    callchains.FramesOf(*sample, event->format, view.cpumode());
  }
}

// Reads all of a perf.data: events, features, records in time order, and applies all rules.
Outcome ReadAll(const Buffer& file) {
  Outcome outcome;
  const Result<Reader> reader = Reader::FromBytes(file);
  outcome.opens = reader.has_value();
  if (!reader) {
    EXPECT_NE(reader.error().message, "");
    return outcome;
  }
  for (const auto& [bit, section] : reader->features()) reader->DecodedFeature(bit);
  CountRecords(*reader, outcome);
  Validate(*reader);
  return outcome;
}

void AddRecords(PerfDataBuilder& file, std::size_t enough) {
  file.AddEvent({.name = "cycles"});
  file.AddEvent({.name = "faults"});
  file.AddFeature(FeatureBit::kHostname, TextFeature{"here"});
  file.AddFeature(FeatureBit::kCmdline, Cmdline{{"perf", "record"}});
  file.AddFeature(FeatureBit::kNrCpus, NrCpus{.available = 2, .online = 2});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  for (std::uint64_t time = 1; file.records().size() < enough; time += 10) {
    const auto pid = static_cast<std::uint32_t>(time % 7);
    file.AddFork({.pid = pid, .ppid = 1, .tid = pid, .ptid = 1, .time = time});
    file.AddComm({.pid = pid, .tid = pid, .comm = "worker", .time = time + 1});
    file.AddMmap({.pid = pid, .tid = pid, .start = 0x400000, .path = "/bin/w", .time = time + 2});
    for (std::uint64_t i = 0; i < 4; ++i) {
      file.AddSample({.ip = 0x400100,
                      .pid = pid,
                      .tid = pid,
                      .time = time + 6 - i,
                      .callchain = {kContextUser, 0x400100, 0x400200},
                      .event = i % 2});
    }
    file.AddLost(3, time + 8);
    file.AddRound();
  }
}

PerfDataBuilder Plain(Container container, std::size_t enough) {
  PerfDataBuilder file(container);
  AddRecords(file, enough);
  return file;
}

// Returns samples in several zstd frames, each in several COMPRESSED records.
Buffer Compressed(std::size_t enough) {
  PerfDataBuilder file;
  file.AddEvent({.name = "cycles"});
  std::minstd_rand random(1);  // otherwise they would compress to almost nothing
  for (std::uint64_t time = 1; file.records().size() < enough; time += 8) {
    PerfDataBuilder samples;
    samples.AddEvent({.name = "cycles"});
    for (std::uint64_t i = 0; i < 8; ++i) {
      samples.AddSample({.ip = random(), .time = time + i, .callchain = {random(), random()}});
    }
    file.AddRaw(CompressedRecords(samples.records(), 100));
  }
  return file.Build();
}

Buffer OfVersion1(std::size_t enough) {
  Buffer file = Plain(Container::kFile, enough).Build();
  std::ranges::copy(AsBytes("PERFFILE"), file.begin());
  return file;
}

// Returns samples { IP, TID, TIME, PERIOD } of one event, as a big-endian machine writes them.
Buffer BigEndian(std::size_t enough) {
  constexpr std::uint64_t kHeader = 104, kEntry = EventAttr::kSmallestSize + 16;
  constexpr std::uint16_t kCommSize = 32, kSampleSize = 40;
  const std::uint64_t samples = enough / kSampleSize;
  BigEndianBytes file;
  file.U64(0x32454c4946524550).U64(kHeader).U64(kEntry);
  file.U64(kHeader).U64(kEntry).U64(kHeader + kEntry).U64(kCommSize + samples * kSampleSize);
  file.Zeros(16 + 32);  // no event types, no features
  file.U32(kTypeSoftware).U32(EventAttr::kSmallestSize).U64(kSoftwareCpuClock).U64(1);
  file.U64(kIp | kTid | kTime | kPeriod).Zeros(EventAttr::kSmallestSize - 32 + 16);
  file.U32(3).U16(0).U16(kCommSize).U32(7).U32(7).Text("worker", 16);
  for (std::uint64_t time = 1; time <= samples; ++time) {
    file.U32(9).U16(2).U16(kSampleSize).U64(0x400100).U32(7).U32(7).U64(time).U64(1000);
  }
  return file.bytes();
}

Buffer CutAt(const Buffer& file, std::size_t size) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

// Returns the end offset of each record, after `offset` bytes of a file.
std::vector<std::size_t> EndsOf(Bytes records, std::size_t offset) {
  std::vector<std::size_t> ends;
  RecordCursor cursor(records, offset, std::endian::native);
  while (const auto record = cursor.Next().value()) {
    ends.push_back(record->file_offset + record->size());
  }
  return ends;
}

void CutEverywhere(const Buffer& file, const std::vector<std::size_t>& ends, std::size_t begin) {
  for (std::size_t cut = 0; cut < file.size(); cut += Stride(37)) {
    const Outcome outcome = ReadAll(CutAt(file, cut));
    if (cut < begin) continue;
    ASSERT_TRUE(outcome.opens) << "cut at " << cut;
    const auto whole = std::ranges::upper_bound(ends, cut) - ends.begin();
    ASSERT_EQ(outcome.records, static_cast<std::uint64_t>(whole)) << "cut at " << cut;
  }
}

TEST(Damage, CutAnywhereAFileGivesAllRecordsBefore) {
  const PerfDataBuilder plain = Plain(Container::kFile, kCutSize);
  const Buffer file = plain.Build();
  const std::size_t begin = Reader::FromBytes(file)->data_offset();
  CutEverywhere(file, EndsOf(plain.records(), begin), begin);
}

TEST(Damage, CutAnywhereAPipeGivesAllRecordsBefore) {
  const PerfDataBuilder plain = Plain(Container::kPipe, kCutSize);
  const Buffer file = plain.Build();
  const std::vector<std::size_t> ends = EndsOf(Bytes(file).subspan(16), 16);
  // An event is known if the first ATTR is complete; its samples, if both are.
  CutEverywhere(file, ends, ends[1]);
}

TEST(Damage, CutAnywhereCompressedRecordsGiveNoMoreThanTheyHold) {
  const Buffer file = Compressed(kCutSize / 4);
  const Outcome whole = ReadAll(file);
  std::uint64_t before = 0;
  for (std::size_t cut = 0; cut < file.size(); cut += Stride(11)) {
    const Outcome outcome = ReadAll(CutAt(file, cut));
    ASSERT_LE(outcome.records, whole.records) << "cut at " << cut;
    ASSERT_GE(outcome.samples, before) << "cut at " << cut;  // more bytes, more samples
    before = outcome.samples;
  }
  EXPECT_GT(before, 0U);
}

struct Kind {
  const char* name;
  Buffer file;
  std::uint64_t most_records;  // the most that its bytes can hold
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class ChangedBytes : public testing::TestWithParam<Kind> {};

std::array<std::byte, 8> OthersThan(std::byte was) {
  const auto plus_1 = static_cast<std::byte>(std::to_integer<unsigned>(was) + 1);
  return {std::byte{0}, std::byte{1},    std::byte{7},          std::byte{0x7f},
          plus_1,       std::byte{0xff}, was ^ std::byte{0x80}, was ^ std::byte{1}};
}

TEST_P(ChangedBytes, AreReadOrRefused) {
  const auto& [name, file, most_records] = GetParam();
  ASSERT_GT(file.size(), kFlipped);
  ASSERT_GT(ReadAll(file).samples, 20U);
  Buffer changed = file;
  for (std::size_t i = 0; i < kFlipped * 8; i += Stride(61)) {
    const std::byte was = file[i / 8];
    changed[i / 8] = OthersThan(was)[i % 8];
    ASSERT_LE(ReadAll(changed).records, most_records) << "byte " << i / 8 << ", value " << i % 8;
    changed[i / 8] = was;
  }
}

Kind KindOf(const char* name, Buffer file) {
  const std::uint64_t most = file.size() / sizeof(RecordHeader);
  return {name, std::move(file), most};
}

std::vector<Kind> FiveKinds() {
  const std::size_t enough = kFlipped + 200;
  Kind compressed = KindOf("Compressed", Compressed(enough));
  compressed.most_records = 64 * enough;
  return {KindOf("File", Plain(Container::kFile, enough).Build()),
          KindOf("Pipe", Plain(Container::kPipe, enough).Build()), compressed,
          KindOf("BigEndian", BigEndian(enough)), KindOf("Version1", OfVersion1(enough))};
}

INSTANTIATE_TEST_SUITE_P(Damage, ChangedBytes, testing::ValuesIn(FiveKinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace perftape::perfdata
