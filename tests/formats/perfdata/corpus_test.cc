// SPDX-License-Identifier: Apache-2.0
// Reads recordings of other people's machines: perf from 3.2 to 6.16, simpleperf, five
// architectures, both byte orders. They are not part of the source tree; $PERFTAPE_CORPUS names the
// directory. Beside each NAME.perf.data is NAME.inventory.json, made by a program that shares no
// code with ours.
#include "tests/support/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

using testing::IsEmpty;

using Counts = std::map<std::string, std::uint64_t>;

// The cursor ends with an error after all complete records.
const std::set<std::string> kDamaged = {
    "pipe-x86_64-k3.2-CORRUPT-zero-size-sample",
    "pipe-x86_64-k6.16-COMPRESSED2-attr136-stderr-text-at-end",
};
// Of RHEL 7.0: its MMAP2 has no protection and flags, and the name begins at their offset. perf
// does not read these names either.
const std::set<std::string> kShortMmap2 = {"x86_64-k3.10-dwarf-one-sample"};

std::vector<std::string> Recordings() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(CorpusDirectory() / "perfdata")) {
    const std::string name = entry.path().filename();
    constexpr std::string_view kEnding = ".perf.data";
    if (name.ends_with(kEnding)) names.push_back(name.substr(0, name.size() - kEnding.size()));
  }
  std::ranges::sort(names);
  return names;
}

MappedFile Recording(const std::string& name) {
  return MappedFile::Open(CorpusDirectory() / "perfdata" / (name + ".perf.data")).value();
}

// Returns { "records": { "COMM": 6, ... } } of the inventory, its only object of that name.
Counts InventoryOf(const std::string& name) {
  const std::string text =
      ReadWholeFile(CorpusDirectory() / "perfdata" / (name + ".inventory.json")).value();
  std::size_t at = text.find("\"records\": {");
  const std::size_t end = text.find('}', at);
  at = text.find('{', at);
  Counts counts;
  while ((at = text.find('"', at)) < end) {
    const std::size_t key_end = text.find('"', at + 1);
    std::string key = text.substr(at + 1, key_end - at - 1);
    std::uint64_t& count = counts[key];
    std::from_chars(text.data() + key_end + 3, text.data() + end, count);
    at = key_end + 1;
  }
  return counts;
}

// Calls `visit` with each record and its event, if it has one.
template <class Visitor>
Status ForEachRecord(const Reader& reader, Visitor visit) {
  RecordCursor cursor = reader.records();
  while (true) {
    TRY_ASSIGN(const std::optional<RecordView> record, cursor.Next());
    if (!record) return {};
    visit(*record, reader.events().EventOf(*record));
  }
}

class PerfDataCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (CorpusDirectory().empty()) GTEST_SKIP() << kNoCorpus;
  }
};

TEST_F(PerfDataCorpus, OpensWithoutAProblem) {
  for (const std::string& name : Recordings()) {
    const MappedFile file = Recording(name);
    const Result<Reader> reader = Reader::FromBytes(file.bytes());
    ASSERT_THAT(reader, IsOk()) << name;
    if (name.contains("CRASHED")) {
      EXPECT_THAT(reader->problems(), testing::SizeIs(1)) << name;
    } else {
      EXPECT_THAT(reader->problems(), IsEmpty()) << name;
    }
    for (const auto& [bit, section] : reader->features()) {
      EXPECT_TRUE(reader->DecodedFeature(bit)) << name << ' ' << FeatureName(bit);
    }
  }
}

TEST_F(PerfDataCorpus, HasTheRecordsThatItsInventoriesCount) {
  for (const std::string& name : Recordings()) {
    const MappedFile file = Recording(name);
    const Reader reader = Reader::FromBytes(file.bytes()).value();
    Counts counts;
    const Status end = ForEachRecord(reader, [&](const RecordView& record, const Event*) {
      // The inventories contain simpleperf's own types, which we do not read.
      if (IsKnown(record.type)) ++counts[RecordName(record.type)];
    });
    EXPECT_EQ(end.has_value(), !kDamaged.contains(name)) << name;
    Counts expected = InventoryOf(name);
    std::erase_if(expected, [](const auto& count) { return count.first.starts_with("SP_"); });
    EXPECT_EQ(counts, expected) << name;
  }
}

TEST_F(PerfDataCorpus, HasAnEventForEveryRecordAndDecodesEverySample) {
  for (const std::string& name : Recordings()) {
    const MappedFile file = Recording(name);
    const Reader reader = Reader::FromBytes(file.bytes()).value();
    std::uint64_t without_event = 0, undecoded = 0;
    (void)ForEachRecord(reader, [&](const RecordView& record, const Event* event) {
      without_event += event == nullptr ? 1 : 0;
      if (event == nullptr || record.type != RecordType::kSample) return;
      undecoded += DecodeSample(record, event->format) ? 0 : 1;
    });
    EXPECT_EQ(without_event, 0U) << name;
    EXPECT_EQ(undecoded, 0U) << name;
  }
}

// Returns the offset of the end of a name in its record, without its NUL; nothing for records
// without names.
template <class Record>
const char* EndOfName(const Record& value) {
  std::string_view name;
  if constexpr (requires { value.filename; }) name = value.filename;
  if constexpr (requires { value.comm; }) name = value.comm;
  if constexpr (requires { std::string_view(value.name); }) name = value.name;
  if constexpr (requires { value.path; }) name = value.path;
  if constexpr (requires { value.text; }) name = value.text;
  return name.empty() ? nullptr : name.data() + name.size();
}

// Returns the whole record of which the payload is a view. Padding is replaced with zeros: after
// the NUL of a name the kernel leaves old bytes.
std::vector<std::byte> WholeRecord(const RecordView& record, const SampleFormat& format,
                                   const char* name_end) {
  const std::byte* start = record.payload.data() - sizeof(RecordHeader);
  std::vector<std::byte> bytes(start, start + record.size());
  if (name_end == nullptr) return bytes;
  const auto padding_start = reinterpret_cast<const std::byte*>(name_end) - start;
  const std::size_t trailer =
      std::to_underlying(record.type) < kFirstToolType ? format.trailer_size() : 0;
  std::fill(bytes.begin() + padding_start, bytes.end() - static_cast<std::ptrdiff_t>(trailer),
            std::byte{0});
  return bytes;
}

// perf's own records are larger than necessary, and some end within a word.
bool DifferInPaddingAtMost(Bytes a, Bytes b) {
  const std::size_t common = std::min(a.size(), b.size());
  const Bytes rest = a.size() > b.size() ? a.subspan(common) : b.subspan(common);
  return std::ranges::equal(a.first(common), b.first(common)) &&
         std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; });
}

template <class Record>
bool ComesBackEqual(const RecordView& record, const SampleFormat& format) {
  const Result<Record> value = Decode<Record>(record, format);
  if (!value) return false;
  std::vector<std::byte> again;
  if (!Encode(*value, DecodeSampleId(record, format), format, record.misc, again)) return false;
  const std::vector<std::byte> whole = WholeRecord(record, format, EndOfName(*value));
  if (std::to_underlying(Record::kType) < kFirstToolType) return again == whole;
  return DifferInPaddingAtMost(Bytes(again).subspan(sizeof(RecordHeader)),
                               Bytes(whole).subspan(sizeof(RecordHeader)));
}

bool SampleComesBackEqual(const RecordView& record, const SampleFormat& format) {
  const Result<Sample> value = DecodeSample(record, format);
  std::vector<std::byte> again;
  if (!value || !EncodeSample(*value, format, record.misc, again)) return false;
  return again == WholeRecord(record, format, nullptr);
}

bool ComesBackEqual(const RecordView& record, const SampleFormat& format) {
  if (record.type == RecordType::kSample) return SampleComesBackEqual(record, format);
  bool is_equal = true;
  VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record>) {
    is_equal = ComesBackEqual<Record>(record, format);
  });
  return is_equal;
}

TEST_F(PerfDataCorpus, IsEncodedToTheBytesThatItWasDecodedFrom) {
  std::uint64_t records = 0;
  for (const std::string& name : Recordings()) {
    const MappedFile file = Recording(name);
    const Reader reader = Reader::FromBytes(file.bytes()).value();
    if (reader.order() != std::endian::native) continue;
    Counts changed;
    (void)ForEachRecord(reader, [&](const RecordView& record, const Event* event) {
      if (event == nullptr) return;
      ++records;
      if (!ComesBackEqual(record, event->format)) ++changed[RecordName(record.type)];
    });
    if (kShortMmap2.contains(name)) changed.erase("MMAP2");
    EXPECT_THAT(changed, IsEmpty()) << name;
  }
  EXPECT_GT(records, 100'000U);
}

}  // namespace
}  // namespace perftape::perfdata
