// SPDX-License-Identifier: Apache-2.0
// Tests all types of records by their layouts, so a new type needs no test of its own for this:
// what is encoded is decoded, in both byte orders; what is cut or has an absurd count is refused;
// and each description can be shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "formats/perfdata/body_shape.h"
#include "formats/perfdata/field_cursor.h"
#include "formats/perfdata/kernel_layout.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/tool_layout.h"
#include "tests/formats/perfdata/made_values.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

const SampleFormat kFormat{.sample_type = kTid | kTime | kIdentifier,
                           .read_format = kReadTotalTimeEnabled | kReadTotalTimeRunning,
                           .sample_id_all = true};
const SampleFormat kNoTrailer{.read_format = kReadTotalTimeEnabled | kReadTotalTimeRunning};

// The bits that layouts depend on: a build id instead of an inode, and the size of a build id.
constexpr std::uint16_t kMiscs[] = {0, kMiscMmapBuildId | kMiscBuildIdSize};

// Collects fields as "name=value", and the names of each object.
class Collector final : public FieldVisitor {
 public:
  void Number(std::string_view name, std::uint64_t value) override {
    Add(name, std::to_string(value));
  }
  void Signed(std::string_view name, std::int64_t value) override {
    Add(name, std::to_string(value));
  }
  void Real(std::string_view name, double value) override { Add(name, std::to_string(value)); }
  void Hex(std::string_view name, std::uint64_t value) override {
    Add(name, std::to_string(value));
  }
  void Word(std::string_view name, std::string_view value) override { Add(name, value); }
  void Text(std::string_view name, std::string_view value) override { Add(name, value); }
  void Words(std::string_view name, std::span<const std::string> values) override {
    std::string all;
    for (const std::string& value : values) all.append(" ").append(value);
    Add(name, all);
  }
  void Blob(std::string_view name, Bytes value) override { Add(name, AsText(value)); }
  void OpenList(std::string_view name, std::size_t count) override {
    Add(name, std::to_string(count));
  }
  void OpenItem() override { names_.emplace_back(); }
  void CloseItem() override { names_.pop_back(); }
  void CloseList() override {}
  void OpenGroup(std::string_view name) override { Add(name, ""); }
  void CloseGroup() override {}
  void Trailer() override {}
  void Remark(std::string_view remark) override { Add("remark", remark); }

  const std::string& text() const { return text_; }
  const std::vector<std::string>& repeated() const { return repeated_; }

 private:
  void Add(std::string_view name, std::string_view value) {
    text_.append(name).append("=").append(value).append("\n");
    if (!names_.back().emplace(name).second) repeated_.emplace_back(name);
  }

  std::string text_;
  std::vector<std::set<std::string>> names_ = std::vector<std::set<std::string>>(1);
  std::vector<std::string> repeated_;
};

template <class Record>
Collector FieldsOf(const Record& record, std::uint16_t misc) {
  Collector fields;
  FieldCursor at(fields);
  Layout(at, record, RecordShape{misc, kFormat});
  return fields;
}

// Writes like a machine of the other byte order. Bytes and texts are the same there.
class SwappedWriter : public ByteWriter {
 public:
  using ByteWriter::ByteWriter;

  template <std::integral T>
  void Fixed(const T& field, const auto&... /*info*/) {
    ByteWriter::Fixed(std::byteswap(field));
  }
  template <class T>
  void Array(const FixedArray<T>& field, std::uint64_t count, const auto&... /*info*/) {
    for (std::uint64_t i = 0; i < count; ++i) Fixed(i < field.size() ? field[i] : T{});
  }
  void Words(const WordArray& field, std::uint64_t count, const auto&... /*info*/) {
    Array(field, count);
  }
  void Count(std::uint64_t count, std::uint64_t /*entry_size*/) { Fixed(count); }
};

template <class Visitor, class... Records>
void ForEachType(RecordTypes<Records...> /*of*/, Visitor visit) {
  (visit(std::type_identity<Records>()), ...);
}
// Calls visit(record, misc) with a made record of each type and each misc.
template <class Visitor>
void ForEachMade(Visitor visit) {
  ForEachType(AllRecordTypes{}, [&]<class Record>(std::type_identity<Record>) {
    for (const std::uint16_t misc : kMiscs) {
      SCOPED_TRACE(testing::Message() << Record::kRecordName << " misc " << misc);
      ValueMaker at;
      Record record;
      Layout(at, record, RecordShape{misc, kFormat});
      ASSERT_TRUE(at.ok());
      visit(record, misc);
    }
  });
}

template <class Record>
RecordView ViewOf(Bytes payload, std::uint16_t misc) {
  return {.type = Record::kType, .misc = misc, .payload = payload};
}

template <class Record>
std::vector<std::byte> PayloadOf(const Record& record, std::uint16_t misc,
                                 const SampleFormat& format) {
  std::vector<std::byte> bytes;
  EXPECT_THAT(Encode(record, {.pid = 91, .tid = 92, .time = 93, .id = 94}, format, misc, bytes),
              IsOk());
  return {bytes.begin() + sizeof(RecordHeader), bytes.end()};
}

TEST(DescribedRecord, DecodesToTheFieldsThatWereEncoded) {
  ForEachMade([]<class Record>(const Record& record, std::uint16_t misc) {
    const std::vector<std::byte> payload = PayloadOf(record, misc, kFormat);
    const Result<Record> decoded = Decode<Record>(ViewOf<Record>(payload, misc), kFormat);
    ASSERT_THAT(decoded, IsOk());
    EXPECT_EQ(FieldsOf(*decoded, misc).text(), FieldsOf(record, misc).text());
    EXPECT_EQ(PayloadOf(*decoded, misc, kFormat), payload);
  });
}

TEST(DescribedRecord, OfTheOtherByteOrderReadsTheSame) {
  ForEachMade([]<class Record>(const Record& record, std::uint16_t misc) {
    // attr_test.cc tests attributes. Only in them single bits are in another order, too.
    if constexpr (!std::is_same_v<Record, HeaderAttr>) {
      std::vector<std::byte> payload;
      SwappedWriter at(payload);
      Layout(at, record, RecordShape{misc, kNoTrailer});
      RecordView view = ViewOf<Record>(payload, misc);
      view.order =
          std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
      const Result<Record> decoded = Decode<Record>(view, kNoTrailer);
      ASSERT_THAT(decoded, IsOk());
      EXPECT_EQ(FieldsOf(*decoded, misc).text(), FieldsOf(record, misc).text());
    }
  });
}

// Under the address sanitizer this also shows that nothing reads behind the end.
TEST(DescribedRecord, IsTruncatedWhereverItsFixedFieldsAreCut) {
  ForEachMade([]<class Record>(const Record& record, std::uint16_t misc) {
    const std::vector<std::byte> payload = PayloadOf(record, misc, kNoTrailer);
    for (std::size_t size = 0; size < payload.size(); ++size) {
      const std::vector<std::byte> piece(payload.begin(),
                                         payload.begin() + static_cast<std::ptrdiff_t>(size));
      const Result<Record> decoded = Decode<Record>(ViewOf<Record>(piece, misc), kNoTrailer);
      if (size < ShapeOf(Record::kType)->fixed_size) {
        EXPECT_THAT(decoded, FailsWith(ErrorCode::kTruncated)) << size;
      } else if (!decoded) {
        EXPECT_EQ(decoded.error().code, ErrorCode::kTruncated) << size;
      }
    }
  });
}

TEST(DescribedRecord, WithAnAbsurdCountIsTruncatedNotAllocated) {
  ForEachMade([]<class Record>(const Record& record, std::uint16_t misc) {
    const BodyShape& shape = *ShapeOf(Record::kType);
    if (shape.end != BodyShape::End::kEntries) return;
    std::vector<std::byte> payload = PayloadOf(record, misc, kNoTrailer);
    for (const std::uint64_t count :
         {std::uint64_t{1} << 20, std::uint64_t{1} << 59, std::uint64_t{1} << 62,
          std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      std::memcpy(payload.data() + shape.count_offset(), &count, sizeof count);
      EXPECT_THAT(Decode<Record>(ViewOf<Record>(payload, misc), kNoTrailer),
                  FailsWith(ErrorCode::kTruncated))
          << count;
    }
  });
}

// JSON would lose one of two fields of the same name.
TEST(DescribedRecord, HasFieldsWithDifferentNames) {
  ForEachMade([]<class Record>(const Record& record, std::uint16_t misc) {
    const Collector fields = FieldsOf(record, misc);
    EXPECT_THAT(fields.repeated(), testing::IsEmpty());
  });
}

TEST(DescribedRecord, ShowsFieldsUnlessItHasNone) {
  ForEachMade([]<class Record>(const Record& record, std::uint16_t misc) {
    const bool is_empty = PayloadOf(record, misc, kNoTrailer).empty();
    EXPECT_EQ(FieldsOf(record, misc).text().empty(), is_empty);
  });
}

}  // namespace
}  // namespace perftape::perfdata
