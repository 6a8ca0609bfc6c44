// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "formats/perfdata/reader.h"
#include "tests/fuzz/event_mutations.h"
#include "tests/support/compressed.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::fuzz {
namespace {

using perfdata::Compressed;
using perfdata::Container;
using perfdata::PerfDataBuilder;
using perfdata::Reader;
using perfdata::RecordCursor;
using perfdata::RecordType;
using perfdata::RecordView;
using testing::ElementsAreArray;
using testing::IsEmpty;

// Replaces LLVMFuzzerMutate: flips a bit of the first byte, and adds a byte if there is room.
std::size_t FlipABit(std::uint8_t* bytes, std::size_t size, std::size_t room) {
  if (size > 0) bytes[0] ^= 1;
  return std::min(size + 1, room);
}

MutationOptions Seed(std::uint32_t seed) {
  return {.seed = seed, .change_bytes = &FlipABit, .framing = Framing::kKept};
}

PerfDataBuilder Recording(Container container) {
  PerfDataBuilder file(container);
  file.AddEvent({.name = "cycles"});
  file.AddEvent({.name = "faults"});
  file.AddFeature(perfdata::FeatureBit::kHostname, perfdata::TextFeature{"here"});
  file.AddFeature(perfdata::FeatureBit::kNrCpus, perfdata::NrCpus{2, 2});
  file.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/bin/worker"});
  for (std::uint64_t time = 1; time <= 20; ++time) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time, .event = time % 2});
  }
  file.AddRound();
  return file;
}

// Returns the same recording with its data in COMPRESSED records.
PerfDataBuilder CompressedRecording() {
  const PerfDataBuilder plain = Recording(Container::kFile);
  PerfDataBuilder file;
  file.AddEvent({.name = "cycles"});
  file.AddEvent({.name = "faults"});
  file.AddRaw(perfdata::CompressedRecords(plain.records(), 64));
  return file;
}

// Returns a stream with tracing data after one record and an AUX trace after another.
PerfDataBuilder StreamWithBytesBehind() {
  PerfDataBuilder file = Recording(Container::kPipe);
  Buffer records;
  ByteWriter at(records);
  at.Fixed(perfdata::RecordHeader{RecordType::kHeaderTracingData, 0, 16}.type);
  at.Fixed(std::uint32_t{16} << 16);
  at.Fixed(std::uint64_t{12});
  at.Padding(16);
  at.Fixed(RecordType::kAuxtrace);
  at.Fixed(std::uint32_t{48} << 16);
  at.Fixed(std::uint64_t{24});
  at.Padding(32 + 24);
  file.AddRaw(records);
  return file;
}

std::vector<Buffer> AllKinds() {
  return {Recording(Container::kFile).Build(), Recording(Container::kPipe).Build(),
          CompressedRecording().Build(), StreamWithBytesBehind().Build()};
}

TEST(Anatomy, RebuildsTheFile) {
  for (const Buffer& file : AllKinds()) {
    const auto anatomy = Dissect(file);
    ASSERT_TRUE(anatomy);
    EXPECT_THAT(Assemble(*anatomy), ElementsAreArray(file));
  }
}

TEST(Anatomy, KeepsFeaturesInReachWhereTheDataGrows) {
  const Buffer file = Recording(Container::kFile).Build();
  auto anatomy = Dissect(file);
  ASSERT_TRUE(anatomy);
  anatomy->records.push_back(anatomy->records.back());
  const Buffer larger = Assemble(*anatomy);

  const auto reader = Reader::FromBytes(larger);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->text(perfdata::FeatureBit::kHostname), "here");
  EXPECT_THAT(reader->problems(), IsEmpty());
}

TEST(Anatomy, IsNotThatOfOtherBytes) {
  EXPECT_FALSE(Dissect(AsBytes("main;run 12\n")));
  EXPECT_FALSE(Dissect({}));
}

// Returns the number of the first file with broken framing, or an empty string.
std::string FileWithBrokenFraming(const Buffer& file, std::uint32_t generations) {
  Buffer now = file;
  for (std::uint32_t seed = 0; seed < generations; ++seed) {
    Buffer next = Mutated(now, Seed(seed));
    const auto anatomy = Dissect(next);
    if (!anatomy) return "no perf.data after seed " + std::to_string(seed);
    if (!anatomy->torn.empty()) return "torn after seed " + std::to_string(seed);
    // Every 16 generations restart from the original file, so that not all records become random
    // bytes.
    now = seed % 16 == 15 ? file : std::move(next);
  }
  return {};
}

TEST(Mutator, KeepsRecordsThatACursorWalksToTheEnd) {
  for (const Buffer& file : AllKinds()) EXPECT_EQ(FileWithBrokenFraming(file, 2000), "");
}

TEST(Mutator, ChangesNearlyEveryFileItIsGiven) {
  const Buffer file = Recording(Container::kFile).Build();
  int changed = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) changed += Mutated(file, Seed(seed)) != file;
  EXPECT_GT(changed, 80);
}

TEST(Mutator, DoesTheSameForTheSameSeed) {
  const Buffer file = Recording(Container::kPipe).Build();
  EXPECT_EQ(Mutated(file, Seed(17)), Mutated(file, Seed(17)));
}

TEST(Mutator, KeepsToTheSizeItIsGiven) {
  const Buffer file = Recording(Container::kFile).Build();
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    MutationOptions options = Seed(seed);
    options.max_size = file.size();
    EXPECT_LE(Mutated(file, options).size(), file.size());
  }
}

TEST(Mutator, ChangesBytesThatAreNoPerfDataAsBytes) {
  const Buffer changed = Mutated(AsBytes("abc"), {.max_size = 8, .change_bytes = &FlipABit});
  EXPECT_EQ(AsText(changed), std::string("`bc\0", 4));
}

TEST(Mutator, CrossesRecordsOfTwoFiles) {
  const Buffer file = Recording(Container::kFile).Build();
  PerfDataBuilder other;
  other.AddEvent();
  for (int i = 0; i < 100; ++i) other.AddLost(1);
  int with_lost = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const auto anatomy = Dissect(Crossed(file, other.Build(), Seed(seed)));
    ASSERT_TRUE(anatomy);
    EXPECT_THAT(anatomy->torn, IsEmpty());
    with_lost += std::ranges::any_of(anatomy->records, [&](const Buffer& record) {
      return TypeOf(record, anatomy->order) == RecordType::kLost;
    });
  }
  EXPECT_EQ(with_lost, 20);
}

std::size_t SamplesThatDecode(const Buffer& file) {
  const auto reader = Reader::FromBytes(file);
  if (!reader) return 0;
  RecordCursor cursor = reader->records();
  std::size_t count = 0;
  while (true) {
    const auto record = cursor.Next();
    if (!record || !*record) return count;
    if ((*record)->type != RecordType::kSample) continue;
    const perfdata::Event* event = reader->events().EventOf(**record);
    if (event != nullptr && DecodeSample(**record, event->format)) ++count;
  }
}

TEST(ChangeSampleLayout, RewritesSamplesForTheNewAttribute) {
  for (const Container container : {Container::kFile, Container::kPipe}) {
    PerfDataBuilder file(container);
    file.AddEvent();
    for (std::uint64_t time = 1; time <= 20; ++time) file.AddSample({.ip = 1, .time = time});
    const Buffer before = file.Build();
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      Dice dice(seed);
      auto anatomy = Dissect(before);
      ASSERT_TRUE(anatomy);
      for (int turn = 0; turn < 3; ++turn) ChangeSampleLayout(*anatomy, dice);
      const Buffer after = Assemble(*anatomy);
      EXPECT_NE(after, before);
      EXPECT_EQ(SamplesThatDecode(after), 20) << "seed " << seed;
    }
  }
}

TEST(Compress, IsUndoneByDecompress) {
  const Buffer file = Recording(Container::kFile).Build();
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Dice dice(seed);
    auto anatomy = Dissect(file);
    ASSERT_TRUE(anatomy);
    Compress(*anatomy, dice);
    EXPECT_NE(Assemble(*anatomy), file);
    Decompress(*anatomy, dice);
    EXPECT_EQ(Assemble(*anatomy), file) << "seed " << seed;
  }
}

}  // namespace
}  // namespace perftape::fuzz
