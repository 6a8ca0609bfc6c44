// SPDX-License-Identifier: Apache-2.0
#include "convert/import/process_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/reader.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::convert {
namespace {

using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Timeline, IsWhatItWasSetToLast) {
  Timeline<std::uint64_t> line;
  line.Set(3, 30);
  line.Set(5, 50);
  EXPECT_EQ(line.At(2).value, 0U);
  EXPECT_EQ(line.At(3).value, 30U);
  EXPECT_EQ(line.At(4).value, 30U);
  EXPECT_EQ(line.At(9).value, 50U);
}

TEST(Timeline, ReportsHowLongAValueLasts) {
  Timeline<std::uint64_t> line;
  line.Set(3, 30);
  line.Set(4, 30);
  line.Set(5, 50);
  EXPECT_EQ(line.At(2).to, 3U);
  EXPECT_EQ(line.At(4).from, 3U);
  EXPECT_EQ(line.At(4).to, 5U);
}

// The history of a file's records, with the file.
struct HistoryOf {
  explicit HistoryOf(const PerfDataBuilder& builder) : bytes(builder.Build()) {
    const auto opened = perfdata::Reader::FromBytes(bytes);
    format = opened->events()[0].format;
    perfdata::EventLookup lookup(opened->events());
    perfdata::RecordCursor cursor = opened->records();
    RoundClock clock;
    while (cursor.Step()) {
      const SortKey key = clock.KeyOf(cursor.record(), lookup.Of(cursor.record()).time);
      if (ProcessHistory::IsProcessRecord(cursor.record().type))
        history.Add(cursor.record(), format, key);
    }
    history.Finish();
  }

  ThreadState At(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    return history.StateOf(pid, tid, history.EpochOf({time, 1000}));
  }
  std::string CommAt(std::uint32_t tid, std::uint64_t time) {
    const std::string* comm = At(tid, tid, time).comm;
    return comm == nullptr ? "unknown" : *comm;
  }
  std::uint64_t SpaceAt(std::uint32_t pid, std::uint64_t time) {
    return At(pid, pid, time).spaces.user;
  }

  std::vector<std::byte> bytes;
  perfdata::SampleFormat format;
  ProcessHistory history;
};

PerfDataBuilder File() {
  PerfDataBuilder file;
  file.AddEvent();
  return file;
}

TEST(ProcessHistory, FindsNamesOfAnyTimeInAnyOrder) {
  PerfDataBuilder file = File();
  file.AddComm({.pid = 7, .tid = 7, .comm = "after", .time = 30});
  file.AddComm({.pid = 7, .tid = 7, .comm = "before", .time = 10});
  HistoryOf history_of(file);
  EXPECT_EQ(history_of.CommAt(7, 40), "after");
  EXPECT_EQ(history_of.CommAt(7, 20), "before");
  EXPECT_EQ(history_of.CommAt(7, 5), "before");  // a name that comes later
  EXPECT_EQ(history_of.CommAt(8, 40), "unknown");
}

TEST(ProcessHistory, GivesEqualMappingsOneNumber) {
  PerfDataBuilder file = File();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/lib/a", .time = 10});
  file.AddMmap({.pid = 8, .tid = 8, .start = 0x1000, .path = "/lib/a", .time = 20});
  file.AddMmap({.pid = 8, .tid = 8, .start = 0x5000, .path = "/lib/b", .time = 30});
  file.AddFork({.pid = 9, .ppid = 8, .tid = 9, .ptid = 8, .time = 40});
  HistoryOf history_of(file);
  EXPECT_EQ(history_of.SpaceAt(7, 5), 0U);
  EXPECT_NE(history_of.SpaceAt(7, 10), 0U);
  EXPECT_EQ(history_of.SpaceAt(8, 25), history_of.SpaceAt(7, 50));
  EXPECT_NE(history_of.SpaceAt(8, 35), history_of.SpaceAt(7, 50));
  EXPECT_EQ(history_of.SpaceAt(9, 50), history_of.SpaceAt(8, 50));
}

TEST(ProcessHistory, ForgetsWhatWasMappedAtExec) {
  PerfDataBuilder file = File();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/lib/a", .time = 10});
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls", .time = 20, .misc = perfdata::kMiscCommExec});
  HistoryOf history_of(file);
  EXPECT_NE(history_of.SpaceAt(7, 15), 0U);
  EXPECT_EQ(history_of.SpaceAt(7, 25), 0U);
}

TEST(ProcessHistory, ReportsHowLongAStateLasts) {
  PerfDataBuilder file = File();
  file.AddComm({.pid = 7, .tid = 7, .comm = "a", .time = 10});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/lib/a", .time = 20});
  file.AddComm({.pid = 8, .tid = 8, .comm = "b", .time = 30});
  HistoryOf history_of(file);
  const ThreadState state = history_of.At(7, 7, 25);
  EXPECT_EQ(state.from, 2U);
  EXPECT_GE(state.to, 3U);
  EXPECT_EQ(history_of.At(7, 7, 15).to, 2U);
}

TEST(ProcessHistory, IsReplayed) {
  PerfDataBuilder file = File();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/lib/b", .time = 20});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/lib/a", .time = 10});
  const HistoryOf history_of(file);
  ProcessHistory::Replay replay(history_of.history);
  const auto mapped = [&](Epoch epoch) {
    const perfdata::Region* region = replay.At(epoch).Find(7, perfdata::CpuMode::kUser, 0x1000);
    return region == nullptr ? "nothing" : region->dso->path;
  };
  EXPECT_EQ(mapped(0), "nothing");
  EXPECT_EQ(mapped(1), "/lib/a");
  EXPECT_EQ(mapped(2), "/lib/b");
}

TEST(RegionHistory, HasTheRegionsOfEachEpoch) {
  perfdata::Dso app, library;
  app.path = "/bin/app";
  library.path = "/lib/library.so";
  const perfdata::Region first{.start = 0x1000, .end = 0x2000, .dso = &app};
  const perfdata::Region second{.start = 0x3000, .end = 0x4000, .dso = &library};
  const perfdata::Region other{.start = 0x1000, .end = 0x2000, .dso = &library};
  RegionHistory history;
  perfdata::AddressSpace space;
  space.Add(second);
  history.Note(7, 1, space);
  space.Add(first);
  history.Note(7, 3, space);
  space.Add(other);
  history.Note(7, 5, space);
  history.Note(7, 8, {});

  EXPECT_THAT(history.At(7, 0), IsEmpty());
  EXPECT_THAT(history.At(7, 2), ElementsAre(second));
  EXPECT_THAT(history.At(7, 3), ElementsAre(first, second));
  EXPECT_THAT(history.At(7, 4), ElementsAre(first, second));
  EXPECT_THAT(history.At(7, 7), ElementsAre(other, second));
  EXPECT_THAT(history.At(7, 8), IsEmpty());
  EXPECT_THAT(history.At(8, 4), IsEmpty());
}

}  // namespace
}  // namespace perftape::convert
