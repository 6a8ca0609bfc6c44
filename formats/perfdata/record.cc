// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "formats/base/text.h"
#include "formats/perfdata/kernel_layout.h"
#include "formats/perfdata/tool_layout.h"

namespace perftape::perfdata {
namespace {

[[gnu::noinline]] std::unexpected<Error> Truncated(const RecordView& record) {
  return Fail(ErrorCode::kTruncated,
              fmt::format("record at {}: {} has {} bytes, fewer than its fields need",
                          PositionOf(record), RecordName(record.type), record.size()));
}

bool HasTrailer(RecordType type) {
  return std::to_underlying(type) < kFirstToolType && type != RecordType::kSample;
}

// The size in bytes of the fields of `bits` that records of this format have.
std::size_t SizeOf(const SampleFormat& format, std::uint64_t bits) {
  return sizeof(std::uint64_t) * static_cast<std::size_t>(std::popcount(format.sample_type & bits));
}

// Writes the header of the record that begins at `start` and ends at the end of `out`.
Status CloseRecord(RecordType type, std::uint16_t misc, std::size_t start,
                   std::vector<std::byte>& out) {
  const std::size_t size = out.size() - start;
  if (size > kMaxRecordSize) {
    out.resize(start);
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} has {} bytes, more than a record can have", RecordName(type), size));
  }
  const RecordHeader header{type, misc, static_cast<std::uint16_t>(size)};
  std::memcpy(out.data() + start, &header, sizeof header);
  return {};
}

void PadToWord(std::size_t start, std::vector<std::byte>& out) {
  out.resize(start + RoundUpToWord(out.size() - start));
}

// simpleperf's types from SIMPLE_PERF_RECORD_KERNEL_SYMBOL on (record.h of platform_system_extras).
constexpr std::uint32_t kFirstSimpleperfType = 32769;
constexpr auto kSimpleperfRecordNames = std::to_array<std::string_view>(
    {"KERNEL_SYMBOL", "DSO", "SYMBOL", "SPLIT", "SPLIT_END", "EVENT_ID", "CALLCHAIN",
     "UNWINDING_RESULT", "TRACING_DATA", "DEBUG"});

// The name of a type in AllRecordTypes, or of SAMPLE; empty for all others.
std::string_view FindName(RecordType type) {
  if (type == Sample::kType) return Sample::kRecordName;
  std::string_view name;
  VisitRecordType(type,
                  [&]<class Record>(std::type_identity<Record>) { name = Record::kRecordName; });
  return name;
}

// The functions that decode and encode one type of AllRecordTypes. `value` points to the struct of
// this type. Only Decode and Encode of record.h call them.
struct Codec {
  Status (*decode)(const RecordView&, const SampleFormat&, void* value);
  Status (*encode)(const void* value, const SampleId& trailer, const SampleFormat&,
                   std::uint16_t misc, std::vector<std::byte>& out);
};

// Inlining the whole layout keeps the state of the reader in registers.
template <class Record>
[[gnu::flatten]] Status DecodeRecord(const RecordView& record, const SampleFormat& format,
                                     void* value) {
  const std::size_t trailer = HasTrailer(record.type) ? format.trailer_size() : 0;
  if (record.payload.size() < trailer) return Truncated(record);
  ByteReader at(record.payload.first(record.payload.size() - trailer), record.order);
  Layout(at, *static_cast<Record*>(value), RecordShape{record.misc, format});
  if (!at.ok()) return Truncated(record);
  return {};
}

template <class Record>
Status EncodeRecord(const void* value, const SampleId& trailer, const SampleFormat& format,
                    std::uint16_t misc, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  ByteWriter at(out);
  at.Padding(sizeof(RecordHeader));
  Layout(at, *static_cast<const Record*>(value), RecordShape{misc, format});
  // These two must not be padded: zstd would read the padding as its next frame, and perf reads the
  // tracing data at byte 12.
  constexpr bool kEndsAnywhere =
      std::is_same_v<Record, CompressedData> || std::is_same_v<Record, HeaderTracingData>;
  if constexpr (!kEndsAnywhere) PadToWord(start, out);
  if (HasTrailer(Record::kType) && format.sample_id_all) TrailerLayout(at, trailer, format);
  return CloseRecord(Record::kType, misc, start, out);
}

template <class... Records>
constexpr auto CodecsOf(RecordTypes<Records...> /*of*/) {
  return std::to_array<Codec>({{DecodeRecord<Records>, EncodeRecord<Records>}...});
}
constexpr auto kCodecs = CodecsOf(AllRecordTypes{});  // a row is kRecordIndex of its type

}  // namespace

std::optional<RecordView> AsRecord(Bytes bytes) {
  RecordHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.size != bytes.size()) return std::nullopt;
  return RecordView{
      .type = header.type, .misc = header.misc, .payload = bytes.subspan(sizeof header)};
}

std::string PositionOf(const RecordView& record) {
  std::string position = record.part == 0 ? "" : fmt::format("data.{}:", record.part - 1);
  AppendFormat(position, "{:#x}", record.file_offset);
  if (record.inside >= 0) AppendFormat(position, "+{:#x}", record.inside);
  return position;
}

bool IsKnown(RecordType type) {
  return !FindName(type).empty();
}

std::string RecordName(RecordType type) {
  if (const std::string_view name = FindName(type); !name.empty()) return std::string(name);
  const std::uint32_t number = std::to_underlying(type);
  if (number >= kFirstSimpleperfType &&
      number - kFirstSimpleperfType < kSimpleperfRecordNames.size()) {
    return fmt::format("SIMPLEPERF_{}", kSimpleperfRecordNames[number - kFirstSimpleperfType]);
  }
  return fmt::format("type {}", number);
}

Status DecodeByIndex(std::size_t index, const RecordView& record, const SampleFormat& format,
                     void* value) {
  return kCodecs[index].decode(record, format, value);
}

Status EncodeByIndex(std::size_t index, const void* value, const SampleId& trailer,
                     const SampleFormat& format, std::uint16_t misc, std::vector<std::byte>& out) {
  return kCodecs[index].encode(value, trailer, format, misc, out);
}

// Inlined like DecodeRecord, which halves the time.
[[gnu::flatten]] Result<Sample> DecodeSample(const RecordView& record, const SampleFormat& format) {
  Result<Sample> sample;  // decoded in the return value, because it is large
  ByteReader at(record.payload, record.order);
  SampleLayout(at, *sample, format);
  if (!at.ok()) sample = Truncated(record);
  return sample;
}

std::optional<Sample> RecoverSample(const RecordView& record, const SampleFormat& format) {
  SampleFormat head = format;
  head.sample_type &= kIdentifier | kIp | kTid | kTime | kAddr | kId | kStreamId | kCpu | kPeriod;
  Result<Sample> sample = DecodeSample(record, head);
  if (!sample) return std::nullopt;
  return *sample;
}

Status EncodeSample(const Sample& sample, const SampleFormat& format, std::uint16_t misc,
                    std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  ByteWriter at(out);
  at.Padding(sizeof(RecordHeader));
  SampleLayout(at, sample, format);
  PadToWord(start, out);
  return CloseRecord(RecordType::kSample, misc, start, out);
}

std::uint64_t BranchFlagsAt(const WordArray& branches, std::size_t index) {
  const std::uint64_t flags = branches[3 * index + 2];
  if (branches.order() == std::endian::native) return flags;
  // struct perf_branch_entry: mispred:1, predicted:1, in_tx:1, abort:1, cycles:16, type:4, spec:2,
  // new_type:4, priv:3.
  constexpr unsigned kWidths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
  std::uint64_t reversed = 0;
  unsigned at = 0;
  for (const unsigned width : kWidths) {
    const std::uint64_t field = flags >> (64 - at - width) & ((std::uint64_t{1} << width) - 1);
    reversed |= field << at;
    at += width;
  }
  return reversed;
}

SampleId DecodeSampleId(const RecordView& record, const SampleFormat& format) {
  SampleId trailer;
  const std::size_t size = format.trailer_size();
  if (!HasTrailer(record.type) || record.payload.size() < size) return trailer;
  ByteReader at(record.payload.last(size), record.order);
  if (format.sample_id_all) TrailerLayout(at, trailer, format);
  return trailer;
}

std::uint64_t TimeOf(const RecordView& record, const SampleFormat& format) {
  if (!format.Has(kTime)) return 0;
  std::size_t offset = 0;
  if (record.type == RecordType::kSample) {
    offset = SizeOf(format, kIdentifier | kIp | kTid);
  } else {
    if (!HasTrailer(record.type) || !format.sample_id_all) return 0;
    const std::size_t from_end = SizeOf(format, kTime | kId | kStreamId | kCpu | kIdentifier);
    if (record.payload.size() < from_end) return 0;
    offset = record.payload.size() - from_end;
  }
  if (record.payload.size() < offset + sizeof(std::uint64_t)) return 0;
  return LoadFixed<std::uint64_t>(record.payload.data() + offset, record.order);
}

}  // namespace perftape::perfdata
