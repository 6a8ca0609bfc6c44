// SPDX-License-Identifier: Apache-2.0
// Properties for any cut and any damaged record header.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/convert/rewrite/recovered.h"

namespace perftape::rewrite {
namespace {

using perfdata::Container;
using perfdata::PerfDataBuilder;

// Removes the records of a pipe that a file has in its header.
Records WithoutHead(Records records) {
  std::erase_if(records, [](const std::string& record) {
    const std::string name = NameOf(record);
    return name == "ATTR" || name == "FEATURE" || name == "EVENT_UPDATE";
  });
  return records;
}

// Returns the offset of the builder's records in `file`.
std::size_t RecordsAt(Bytes file, Bytes records) {
  return AsText(file).find(AsText(records));
}

void ExpectAllBeforeEachCut(const PerfDataBuilder& builder) {
  const std::vector<std::byte> file = builder.Build();
  const Records records = RecordsOf(builder.records());
  const std::size_t begin = RecordsAt(file, builder.records());
  std::size_t whole = 0, next_end = begin + records.front().size();
  for (std::size_t cut = begin; cut <= file.size(); ++cut) {
    if (whole < records.size() && cut == next_end) {
      ++whole;
      if (whole < records.size()) next_end += records[whole].size();
    }
    const Records kept = WithoutHead(RecoverRecords(Bytes(file).first(cut)).records);
    const Records expected(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(whole));
    ASSERT_EQ(kept, expected) << "cut at " << cut;
  }
}

TEST(Recover, KeepsEachRecordThatIsWholeBeforeACutOfAFile) {
  ExpectAllBeforeEachCut(SmallRecording());
}

TEST(Recover, KeepsEachRecordThatIsWholeBeforeACutOfAPipe) {
  ExpectAllBeforeEachCut(SmallRecording(Container::kPipe));
}

// Expects all records but one. That one may be there, too, if the rest of it can be read.
void ExpectAllOthers(const Records& kept, const Records& records, std::size_t damaged,
                     const std::string& what) {
  Records others = records;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(damaged));
  std::size_t found = 0;
  for (const std::string& record : kept) {
    if (found < others.size() && record == others[found]) ++found;
  }
  ASSERT_EQ(found, others.size()) << what << ": not found: "
                                  << (found < others.size() ? NameOf(others[found]) : "");
  ASSERT_LE(kept.size(), records.size()) << what;
}

void ExpectOthersSurviveDamage(const PerfDataBuilder& builder, std::size_t damaged,
                               const std::vector<std::uint8_t>& changes) {
  const std::vector<std::byte> file = builder.Build();
  const Records records = RecordsOf(builder.records());
  std::size_t at = RecordsAt(file, builder.records());
  for (std::size_t i = 0; i < damaged; ++i) at += records[i].size();
  for (std::size_t byte = 0; byte < sizeof(perfdata::RecordHeader); ++byte) {
    for (const std::uint8_t change : changes) {
      std::vector<std::byte> copy = file;
      copy[at + byte] ^= std::byte{change};
      const Records kept = WithoutHead(RecoverRecords(copy).records);
      ExpectAllOthers(kept, records, damaged,
                      NameOf(records[damaged]) + " " + std::to_string(damaged) + " byte " +
                          std::to_string(byte) + " changed by " + std::to_string(change));
    }
  }
}

TEST(Recover, KeepsAllOtherRecordsWhereOneHeadersByteIsWrong) {
  std::vector<std::uint8_t> all;
  for (unsigned change = 1; change < 256; ++change)
    all.push_back(static_cast<std::uint8_t>(change));
  ExpectOthersSurviveDamage(SmallRecording(), 10, all);
}

TEST(Recover, KeepsAllOtherRecordsWhicheverHeaderIsDamaged) {
  const PerfDataBuilder builder = SmallRecording();
  const std::size_t count = RecordsOf(builder.records()).size();
  for (std::size_t damaged = 0; damaged < count; ++damaged) {
    ExpectOthersSurviveDamage(builder, damaged, {0x01, 0x08, 0x40, 0x80, 0xff});
  }
}

TEST(Recover, KeepsAllOtherRecordsWithoutTimesAndIds) {
  const PerfDataBuilder builder = BareRecording();
  const std::size_t count = RecordsOf(builder.records()).size();
  for (std::size_t damaged = 0; damaged < count; ++damaged) {
    ExpectOthersSurviveDamage(builder, damaged, {0x01, 0x08, 0x40, 0x80, 0xff});
  }
}

TEST(Recover, KeepsAllOtherRecordsOfAPipeWhicheverHeaderIsDamaged) {
  const PerfDataBuilder builder = SmallRecording(Container::kPipe);
  const std::size_t count = RecordsOf(builder.records()).size();
  for (std::size_t damaged = 0; damaged < count; ++damaged) {
    ExpectOthersSurviveDamage(builder, damaged, {0x01, 0x08, 0x40, 0x80, 0xff});
  }
}

TEST(Recover, KeepsAllOtherRecordsWhereOneIsOverwritten) {
  const PerfDataBuilder builder = SmallRecording();
  const std::vector<std::byte> file = builder.Build();
  const Records records = RecordsOf(builder.records());
  std::size_t at = RecordsAt(file, builder.records());
  for (std::size_t damaged = 0; damaged < records.size(); ++damaged) {
    for (const std::byte value : {std::byte{0}, std::byte{0xff}, std::byte{'x'}}) {
      std::vector<std::byte> copy = file;
      std::fill_n(copy.begin() + static_cast<std::ptrdiff_t>(at), records[damaged].size(), value);
      ExpectAllOthers(RecoverRecords(copy).records, records, damaged,
                      NameOf(records[damaged]) + " overwritten");
    }
    at += records[damaged].size();
  }
}

}  // namespace
}  // namespace perftape::rewrite
