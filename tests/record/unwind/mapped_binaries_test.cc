// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapped_binaries.h"

#include <gtest/gtest.h>
#include <unistd.h>

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
  MappedBinaries binaries_{{cells_, rules_, tables_, {}, {}}, known_};
};

TEST_F(OwnBinaries, AreForgottenOnceNoProcessMapsThem) {
  ASSERT_FALSE(mappings_.empty());
  binaries_.ReadAll(mappings_, kNow);
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

}  // namespace
}  // namespace perftape::record
