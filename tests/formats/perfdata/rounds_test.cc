// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;

// Adds a sample whose address is its name: AddSample(file, "b", 20).
void AddSample(PerfDataBuilder& file, char name, std::uint64_t time) {
  file.AddSample({.ip = static_cast<std::uint64_t>(name), .time = time});
}

// Returns all records in the order of delivery: a sample's name, "|" for a round, "!" for an error.
std::string Order(InTimeOrder& cursor, const Reader& reader) {
  std::string order;
  while (true) {
    const auto next = cursor.Next();
    if (!next) {
      order += '!';
      continue;
    }
    if (!*next) return order;
    if ((*next)->type == RecordType::kFinishedRound) {
      order += '|';
    } else if ((*next)->type == RecordType::kSample) {
      order += static_cast<char>(DecodeSample(**next, reader.events()[0].format).value().ip);
    } else {
      order += '*';
    }
  }
}

std::string Order(PerfDataBuilder& file) {
  const Reader reader = file.Open();
  InTimeOrder cursor(reader.records(), reader.events());
  return Order(cursor, reader);
}

TEST(InTimeOrder, SortsWhatSeveralCpusWroteOneBehindTheOther) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'a', 10);
  AddSample(file, 'c', 30);
  AddSample(file, 'b', 20);
  AddSample(file, 'd', 40);
  EXPECT_EQ(Order(file), "abcd");
}

TEST(InTimeOrder, KeepsTheOrderOfTheFileForEqualTimes) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'z', 20);
  for (char name = 'a'; name <= 'j'; ++name) AddSample(file, name, 10);
  EXPECT_EQ(Order(file), "abcdefghijz");
}

TEST(InTimeOrder, DeliversRecordsOfTimeZeroAtOnce) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'b', 10);
  AddSample(file, 'a', 0);
  AddSample(file, '~', ~std::uint64_t{0});
  EXPECT_EQ(Order(file), "a~b");
}

TEST(InTimeOrder, ReleasesWithARoundWhatIsNotNewerThanTheRoundBefore) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'b', 20);
  file.AddRound();  // the first round releases nothing: older records may follow
  AddSample(file, 'a', 15);
  AddSample(file, 'd', 40);
  file.AddRound();  // releases up to 20
  AddSample(file, 'c', 30);
  EXPECT_EQ(Order(file), "|ab|cd");
}

TEST(InTimeOrder, HoldsTwoRoundsAndNoMore) {
  PerfDataBuilder file;
  file.AddEvent();
  for (std::uint64_t round = 0; round < 5; ++round) {
    AddSample(file, static_cast<char>('a' + round), 10 + round);
    file.AddRound();
  }
  EXPECT_EQ(Order(file), "|a|b|c|d|e");
}

TEST(InTimeOrder, CountsRecordsThatComeLaterThanTheirRoundPromised) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'c', 30);
  file.AddRound();
  file.AddRound();  // releases 30
  AddSample(file, 'a', 10);
  AddSample(file, 'd', 40);
  const Reader reader = file.Open();
  InTimeOrder cursor(reader.records(), reader.events());
  EXPECT_EQ(Order(cursor, reader), "|c|ad");
  EXPECT_EQ(cursor.out_of_order(), 1U);
}

TEST(InTimeOrder, CountsNothingWhereTimesAreEqual) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'a', 30);
  file.AddRound();
  file.AddRound();
  AddSample(file, 'b', 30);
  const Reader reader = file.Open();
  InTimeOrder cursor(reader.records(), reader.events());
  EXPECT_EQ(Order(cursor, reader), "|a|b");
  EXPECT_EQ(cursor.out_of_order(), 0U);
}

TEST(InTimeOrder, DeliversWhatCameBeforeTheDamageAndThenTheError) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'b', 20);
  AddSample(file, 'a', 10);
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 0});
  AddSample(file, 'c', 30);
  EXPECT_EQ(Order(file), "ab!");
}

TEST(InTimeOrder, MergesTheBuffersOfManyCpusRoundForRound) {
  std::mt19937 random(7);
  for (const int cpus : {2, 3, 8, 33}) {
    PerfDataBuilder file;
    file.AddEvent();
    std::vector<std::uint64_t> times;
    for (std::uint64_t round = 0; round < 4; ++round) {
      for (int cpu = 0; cpu < cpus; ++cpu) {
        std::uint64_t time = 1 + round * 1000;
        for (int i = 0; i < 5; ++i) times.push_back(time += random() % 40);
        for (int i = 5; i > 0; --i) file.AddSample({.time = times.end()[-i]});
      }
      file.AddRound();
    }
    std::ranges::sort(times);
    const Reader reader = file.Open();
    InTimeOrder cursor(reader.records(), reader.events());
    std::vector<std::uint64_t> delivered;
    while (cursor.Step()) {
      if (cursor.record().type != RecordType::kSample) continue;
      EXPECT_EQ(cursor.event(), &reader.events()[0]);
      delivered.push_back(TimeOf(cursor.record(), cursor.event()->format));
    }
    EXPECT_EQ(delivered, times) << cpus << " CPUs";
    EXPECT_EQ(cursor.out_of_order(), 0U);
  }
}

TEST(InTimeOrder, SortsProcessRecordsByTheirTrailer) {
  PerfDataBuilder file;
  file.AddEvent();
  AddSample(file, 'b', 20);
  file.AddComm({.pid = 7, .tid = 7, .comm = "worker", .time = 10});
  EXPECT_EQ(Order(file), "*b");
}

TEST(InTimeOrder, KeepsTheFilesOrderWhereRecordsHaveNoTime) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kIp | kTid});
  AddSample(file, 'b', 20);
  AddSample(file, 'a', 10);
  EXPECT_EQ(Order(file), "ba");
}

TEST(InTimeOrder, DeliversRecordsOfUnknownEventsAtOnce) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {5}});
  file.AddEvent({.ids = {6}});
  AddSample(file, 'a', 10);
  file.Add(LostSamples{1}, SampleId{.time = 20, .id = 999});
  EXPECT_EQ(Order(file), "*a");
}

}  // namespace
}  // namespace perftape::perfdata
