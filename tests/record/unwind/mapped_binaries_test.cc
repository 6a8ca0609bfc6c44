// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapped_binaries.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <set>
#include <unordered_set>
#include <vector>

#include "formats/perfdata/record_cursor.h"
#include "record/events/event_attrs.h"
#include "record/processes/proc_snapshot.h"
#include "record/unwind/binary_contents.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kNow = 1'000'000'000'000;

// The binaries of this process.
class OwnBinaries : public testing::Test {
 protected:
  OwnBinaries() {
    const perfdata::SampleFormat format = perfdata::FormatOf(SidebandAttr());
    std::vector<std::byte> records;
    const std::uint32_t pids[] = {kPid};
    EXPECT_TRUE(SnapshotProcesses("/proc", pids, format, records));
    perfdata::RecordCursor cursor(records, 0, std::endian::native);
    for (auto record = cursor.Next(); record && *record; record = cursor.Next()) {
      processes_.Apply(**record, format);
    }
    processes_.UserSpace(kPid).ForEach([&](const perfdata::Region& region) {
      mappings_.push_back({.pid = kPid, .region = region});
      dsos_.insert(region.dso);
    });
  }
  // Reads them all, also those that ReadAll leaves to ReadNext on a busy machine.
  void ReadInto(MappedBinaries& binaries) {
    binaries.ReadAll(mappings_, kNow, stop_);
    for (const MappedBinaries::Mapping& mapping : mappings_) (void)binaries.WireMapping(mapping);
    while (binaries.has_unread()) (void)binaries.ReadNext(kNow, stop_);
  }
  // How many of them these have.
  std::ptrdiff_t CountOf(const MappedBinaries& binaries) const {
    return std::ranges::count_if(dsos_, [&](const auto* dso) { return binaries.UsesDso(*dso); });
  }

  const std::uint32_t kPid = static_cast<std::uint32_t>(getpid());
  std::vector<wire_unwind_cell> cells_ = std::vector<wire_unwind_cell>(1 << 22);
  std::vector<wire_unwind_rule> rules_ = std::vector<wire_unwind_rule>(WIRE_UNWIND_RULES);
  std::vector<wire_unwind_table> tables_ = std::vector<wire_unwind_table>(64);
  perfdata::Processes processes_;
  std::vector<MappedBinaries::Mapping> mappings_;
  std::set<const perfdata::Dso*> dsos_;
  KnownBinaries known_;
  OthersFiles files_;
  std::atomic<bool> stop_ = false;
  const UnwindMaps maps_ = {cells_, rules_, tables_, {}, {}};
  MappedBinaries binaries_{maps_, known_, files_, {.table_bytes = 0, .binaries = 0}};
};

TEST_F(OwnBinaries, AreForgottenOnceNoProcessMapsThem) {
  ASSERT_FALSE(mappings_.empty());
  ReadInto(binaries_);
  const MappedBinaries::Mapping& own = mappings_.front();
  ASSERT_LT(binaries_.WireMapping(own).table, WIRE_UNWIND_UNKNOWN);
  ASSERT_GT(CountOf(binaries_), 1);
  const std::size_t index = binaries_.WireMapping(own).table;

  binaries_.ForgetUnmapped({own.region.dso}, kNow);
  EXPECT_EQ(CountOf(binaries_), 1);
  EXPECT_NE(known_.Find(*own.region.dso), nullptr);
  EXPECT_NE(tables_[index].pages, 0U);

  binaries_.ForgetUnmapped({}, kNow);
  EXPECT_EQ(CountOf(binaries_), 0);
  EXPECT_EQ(known_.Find(*own.region.dso), nullptr);
  EXPECT_EQ(tables_[index].pages, 0U);
  EXPECT_EQ(binaries_.WireMapping(own).table, WIRE_UNWIND_UNKNOWN);
  EXPECT_TRUE(binaries_.has_unread()) << "it is read again if a process maps it again";
}

TEST_F(OwnBinaries, WaitIfTheirReaderIsStopped) {
  ASSERT_FALSE(mappings_.empty());
  stop_ = true;
  binaries_.ReadAll(mappings_, kNow, stop_);
  EXPECT_EQ(CountOf(binaries_), 0);
  const MappedBinaries::Mapping& own = mappings_.front();
  EXPECT_EQ(binaries_.WireMapping(own).table, WIRE_UNWIND_UNKNOWN);
  EXPECT_TRUE(binaries_.ReadNext(kNow, stop_).empty());
  EXPECT_TRUE(binaries_.has_unread());

  stop_ = false;
  std::vector<std::uint32_t> ready;
  while (binaries_.has_unread()) ready = binaries_.ReadNext(kNow, stop_);
  EXPECT_EQ(ready, std::vector{kPid});
  EXPECT_LT(binaries_.WireMapping(own).table, WIRE_UNWIND_UNKNOWN);
}

TEST_F(OwnBinaries, CountTheMemoryOfTheirTables) {
  ReadInto(binaries_);
  const std::uint64_t read = binaries_.changed_table_bytes();
  EXPECT_GT(read, 0U);
  binaries_.ForgetUnmapped({}, kNow);
  EXPECT_EQ(binaries_.changed_table_bytes(), 2 * read);
}

TEST_F(OwnBinaries, AreKeptForAWhileWhenNoProcessMapsThem) {
  MappedBinaries all(maps_, known_, files_, {.table_bytes = ~std::uint64_t{0}, .binaries = 64});
  ReadInto(all);
  const std::ptrdiff_t count = CountOf(all);
  ASSERT_GT(count, 2);
  all.ForgetUnmapped({}, kNow);
  EXPECT_EQ(CountOf(all), count);
  EXPECT_LT(all.WireMapping(mappings_.front()).table, WIRE_UNWIND_UNKNOWN);
  EXPECT_FALSE(all.has_unread()) << "it is not read again";
}

TEST_F(OwnBinaries, AreForgottenInTheOrderOfTheirLastUse) {
  MappedBinaries two(maps_, known_, files_, {.table_bytes = ~std::uint64_t{0}, .binaries = 2});
  ReadInto(two);
  std::vector<const perfdata::Dso*> dsos;
  std::ranges::copy_if(dsos_, std::back_inserter(dsos),
                       [&](const auto* dso) { return two.UsesDso(*dso); });
  ASSERT_GT(dsos.size(), 3U);
  two.ForgetUnmapped({dsos[0], dsos[2], dsos[3]}, kNow);
  // A program runs again, and ends.
  const auto is_of_it = [&](const auto& mapping) { return mapping.region.dso == dsos[3]; };
  (void)two.WireMapping(*std::ranges::find_if(mappings_, is_of_it));
  two.ForgetUnmapped({dsos[0]}, kNow);
  EXPECT_TRUE(two.UsesDso(*dsos[0]) && two.UsesDso(*dsos[2]) && two.UsesDso(*dsos[3]));
  EXPECT_EQ(CountOf(two), 3);
  two.ForgetUnmapped({}, kNow);
  EXPECT_TRUE(two.UsesDso(*dsos[0])) << "it was mapped last";
  EXPECT_TRUE(two.UsesDso(*dsos[3]));
  EXPECT_FALSE(two.UsesDso(*dsos[2]));
}

TEST_F(OwnBinaries, LeaveTheRoomOfLargeOnesToSmallOnes) {
  ReadInto(binaries_);
  const std::uint64_t all_bytes = binaries_.changed_table_bytes();
  MappedBinaries some(maps_, known_, files_, {.table_bytes = all_bytes / 2, .binaries = 64});
  ReadInto(some);
  some.ForgetUnmapped({}, kNow);
  const std::uint64_t forgotten = some.changed_table_bytes() - all_bytes;
  EXPECT_GE(forgotten, all_bytes - all_bytes / 2);
  EXPECT_GT(CountOf(some), 0);
}

}  // namespace
}  // namespace perftape::record
