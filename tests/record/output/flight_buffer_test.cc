// SPDX-License-Identifier: Apache-2.0
#include "record/output/flight_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/base/duration.h"
#include "tests/record/records.h"

namespace perftape::record {
namespace {

using perfdata::Comm;
using perfdata::CpuMode;
using perfdata::RecordType;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;
constexpr std::uint64_t kEvent = 77;

class Flight : public testing::Test {
 protected:
  // A round at each of these seconds, with a sample.
  void AddRounds(std::initializer_list<std::uint64_t> seconds) {
    for (const std::uint64_t second : seconds) {
      AddSample(second * kNsPerSecond);
      EndRound(second * kNsPerSecond);
    }
  }
  void Add(Bytes bytes) { buffer_->Add(RecordsIn(bytes).at(0), bytes); }
  void AddSample(std::uint64_t time) {
    Add(SampleOf({.id = kEvent, .ip = 0x1000, .pid = 7, .tid = 7, .time = time}, CpuMode::kUser));
  }
  void EndRound(std::uint64_t time, bundle::RecordingNotes notes = {}) {
    EXPECT_TRUE(buffer_->EndRound(hit_, std::move(notes), time));
  }
  void Limit(std::uint64_t span_ns, std::uint64_t bytes) {
    buffer_.emplace(kTestFormat, FlightLimits{.span_ns = span_ns, .bytes = bytes}, 8,
                    std::make_shared<OthersFiles>());
  }

  std::vector<std::uint64_t> SampleTimes() const {
    std::vector<std::uint64_t> times;
    const FlightContents contents = buffer_->Contents().value();
    for (const auto& round : contents.rounds) {
      for (const perfdata::RecordView& record : RecordsIn(round->records)) {
        if (record.type == RecordType::kSample) times.push_back(TimeOf(record, kTestFormat));
      }
    }
    return times;
  }
  std::vector<std::string> CommsBefore() const {
    std::vector<std::string> names;
    const std::vector<std::byte> state = buffer_->Contents().value().state;
    for (const Comm& comm : Decoded<Comm>(RecordsIn(state))) names.emplace_back(comm.comm);
    return names;
  }

  std::optional<FlightBuffer> buffer_{std::in_place, kTestFormat,
                                      FlightLimits{.span_ns = 3 * kNsPerSecond, .bytes = kPlenty},
                                      8, std::make_shared<OthersFiles>()};
  std::vector<const perfdata::Dso*> hit_;
};

TEST_F(Flight, KeepsTheLastSeconds) {
  AddRounds({1, 2, 3, 4, 5, 6});
  EXPECT_THAT(SampleTimes(),
              ElementsAre(3 * kNsPerSecond, 4 * kNsPerSecond, 5 * kNsPerSecond, 6 * kNsPerSecond));
  const FlightContents contents = buffer_->Contents().value();
  EXPECT_EQ(contents.samples, 4u);
  EXPECT_EQ(contents.kept_ns, 3 * kNsPerSecond);
  EXPECT_FALSE(contents.is_short_of_memory);
  EXPECT_EQ(contents.sample_time.first_ns, 3 * kNsPerSecond);
  EXPECT_EQ(contents.sample_time.last_ns, 6 * kNsPerSecond);
}

TEST_F(Flight, DropsOldRoundsWhileNothingArrives) {
  AddRounds({1, 2});
  EndRound(9 * kNsPerSecond);
  EXPECT_THAT(SampleTimes(), IsEmpty());
  EXPECT_EQ(buffer_->bytes(), 0u);
  EXPECT_EQ(buffer_->Contents().value().kept_ns, 3 * kNsPerSecond);
}

TEST_F(Flight, CountsWhatItDropsByEvent) {
  AddRounds({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(buffer_->dropped_samples(), 2u);
  EXPECT_THAT(buffer_->dropped_by_id(), ElementsAre(Pair(kEvent, 2u)));
}

TEST_F(Flight, DropsTheOldestFirstIfTheMemoryIsFull) {
  AddRounds({1});
  const std::uint64_t one_round = buffer_->bytes();
  Limit(60 * kNsPerSecond, 2 * one_round);
  AddRounds({1, 2, 3, 4});
  EXPECT_THAT(SampleTimes(), ElementsAre(3 * kNsPerSecond, 4 * kNsPerSecond));
  EXPECT_LE(buffer_->bytes(), 2 * one_round);
  const FlightContents contents = buffer_->Contents().value();
  EXPECT_TRUE(contents.is_short_of_memory);
  EXPECT_EQ(contents.kept_ns, 2 * kNsPerSecond);
}

TEST_F(Flight, HasTheStateAtTheOldestRecord) {
  const auto named = [](const char* name) { return Comm{.pid = 7, .tid = 7, .comm = name}; };
  EXPECT_TRUE(buffer_->ApplyInitialState(RecordOf(named("first"))));
  Add(RecordOf(named("second"), kNsPerSecond));
  EndRound(kNsPerSecond);
  Add(RecordOf(named("third"), 5 * kNsPerSecond));
  EndRound(4 * kNsPerSecond);
  EXPECT_THAT(CommsBefore(), ElementsAre("first"));
  EndRound(5 * kNsPerSecond);  // the round of 1 s is too old now
  EXPECT_THAT(CommsBefore(), ElementsAre("second"));
}

TEST_F(Flight, KeepsOneRoundOfAnyNumberOfRecordsInOrder) {
  for (std::uint64_t time = 1; time <= 5; ++time) AddSample(time);
  EndRound(kNsPerSecond);
  EXPECT_THAT(SampleTimes(), ElementsAre(1, 2, 3, 4, 5));
  const FlightContents contents = buffer_->Contents().value();
  ASSERT_EQ(contents.rounds.size(), 1u);
  EXPECT_EQ(RecordsIn(contents.rounds[0]->records).back().type, RecordType::kFinishedRound);
}

TEST_F(Flight, IsAskedToEndALargeRound) {
  Limit(kNsPerSecond, 8 * 1024);
  AddSample(1);
  EXPECT_FALSE(buffer_->IsRoundFull());
  for (int i = 0; i < 30; ++i) AddSample(2);
  EXPECT_TRUE(buffer_->IsRoundFull());
}

TEST_F(Flight, HasRoundsOfAFifthOfASecond) {
  EndRound(kNsPerSecond);
  EXPECT_FALSE(buffer_->IsRoundDue(kNsPerSecond + 100'000'000));
  EXPECT_TRUE(buffer_->IsRoundDue(kNsPerSecond + 200'000'000));
}

TEST_F(Flight, HasTheNotesOfTheTimeBeforeTheOldestRound) {
  for (const std::uint64_t second : {1, 2, 3, 4, 5}) {
    AddSample(second * kNsPerSecond);
    EndRound(second * kNsPerSecond, {.samples = second});
  }
  EXPECT_EQ(buffer_->Contents().value().notes_before.samples, 1u);
}

TEST_F(Flight, HasEachBinaryOnceThatTheKeptRoundsHit) {
  const perfdata::Dso old, both, young;
  const auto hit_at = [&](std::uint64_t second, std::vector<const perfdata::Dso*> hit) {
    hit_ = std::move(hit);
    AddSample(second * kNsPerSecond);
    EndRound(second * kNsPerSecond);
  };
  hit_at(1, {&old, &both});
  hit_at(4, {&both, &young});
  hit_at(5, {&both});
  EXPECT_THAT(buffer_->Contents().value().hit, ElementsAre(&both, &young));
}

TEST_F(Flight, ClosesBinariesOfDroppedRounds) {
  const BuildId build_id = BuildId::From(AsBytes("0123456789abcdefghij"));
  const auto add = [&](std::uint64_t second) {
    buffer_->keepers().files->Add("/bin/x", build_id, {});
    AddSample(second * kNsPerSecond);
    EndRound(second * kNsPerSecond);
  };
  add(1);
  EXPECT_TRUE(buffer_->keepers().files->AddAgain("/bin/x", build_id));
  EndRound(2 * kNsPerSecond);
  EXPECT_EQ(buffer_->Contents().value().files.binaries().size(), 1u);
  EndRound(9 * kNsPerSecond);
  EXPECT_FALSE(buffer_->keepers().files->AddAgain("/bin/x", build_id));
  EXPECT_THAT(buffer_->Contents().value().files.binaries(), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
