// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapped_binaries.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
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
    });
  }

  const std::uint32_t kPid = static_cast<std::uint32_t>(getpid());
  std::vector<wire_unwind_cell> cells_ = std::vector<wire_unwind_cell>(1 << 22);
  std::vector<wire_unwind_rule> rules_ = std::vector<wire_unwind_rule>(WIRE_UNWIND_RULES);
  std::vector<wire_unwind_table> tables_ = std::vector<wire_unwind_table>(64);
  perfdata::Processes processes_;
  std::vector<MappedBinaries::Mapping> mappings_;
  KnownBinaries known_;
  OthersFiles files_;
  std::atomic<bool> stop_ = false;
  MappedBinaries binaries_{{cells_, rules_, tables_, {}, {}}, known_, files_};
};

TEST_F(OwnBinaries, AreForgottenOnceNoProcessMapsThem) {
  ASSERT_FALSE(mappings_.empty());
  binaries_.ReadAll(mappings_, kNow, stop_);
  const MappedBinaries::Mapping& own = mappings_.front();
  ASSERT_LT(binaries_.WireMapping(own).table, WIRE_UNWIND_UNKNOWN);
  ASSERT_GT(binaries_.size(), 1U);
  const std::size_t index = binaries_.WireMapping(own).table;

  binaries_.KeepOnly({own.region.dso}, kNow);
  EXPECT_EQ(binaries_.size(), 1U);
  EXPECT_NE(known_.Find(*own.region.dso), nullptr);
  EXPECT_NE(tables_[index].pages, 0U);

  binaries_.KeepOnly({}, kNow);
  EXPECT_EQ(binaries_.size(), 0U);
  EXPECT_EQ(known_.Find(*own.region.dso), nullptr);
  EXPECT_EQ(tables_[index].pages, 0U);
  EXPECT_EQ(binaries_.WireMapping(own).table, WIRE_UNWIND_UNKNOWN);
  EXPECT_TRUE(binaries_.has_unread()) << "it is read again if a process maps it again";
}

TEST_F(OwnBinaries, WaitIfTheirReaderIsStopped) {
  ASSERT_FALSE(mappings_.empty());
  stop_ = true;
  binaries_.ReadAll(mappings_, kNow, stop_);
  EXPECT_EQ(binaries_.size(), 0U);
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
  binaries_.ReadAll(mappings_, kNow, stop_);
  EXPECT_GT(binaries_.table_bytes(), 0U);
  binaries_.KeepOnly({}, kNow);
  EXPECT_EQ(binaries_.table_bytes(), 0U);
}

}  // namespace
}  // namespace perftape::record
