// SPDX-License-Identifier: Apache-2.0
// The records of a perf.data, as bytes and as values. Strings and arrays of a value are views into
// the record, so they live as long as the bytes of its RecordView.
//
//   TRY_ASSIGN(const Mmap2 mmap, Decode<Mmap2>(record, event.format));
//   Encode(mmap, SampleId{.time = now}, event.format, misc, out);
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/kernel_records.h"
#include "formats/perfdata/tool_records.h"

namespace perftape::perfdata {

// The bytes of one record. A view: cheap to copy.
struct RecordView {
  RecordType type = {};
  std::uint16_t misc = 0;
  Bytes payload = {};             // the bytes after the 8 bytes of header
  std::uint64_t file_offset = 0;  // of the header, or of the COMPRESSED record that contains it
  std::endian order = std::endian::native;
  // Whether the views live as long as the bytes of the file. Records from a COMPRESSED record or
  // from a pipe live only until the cursor's next Next().
  bool is_lasting = true;
  // 0 is the file itself, or DIR/data of a directory; n is the file DIR/data.(n-1).
  std::uint32_t part = 0;
  // The offset in the expanded bytes of a COMPRESSED record; -1 if the record is in none.
  std::int32_t inside = -1;
  // For AUXTRACE and TRACING_DATA: the bytes after the record, which header.size does not count.
  Bytes appended = {};
  std::uint16_t excess = 0;  // bytes after the trailer that header.size counts (kernel_size.h)

  std::size_t size() const { return payload.size() + sizeof(RecordHeader); }
  std::size_t stored_size() const { return size() + excess; }  // header.size
  CpuMode cpumode() const { return static_cast<CpuMode>(misc & kMiscCpumodeMask); }
};

// Returns the one record that `bytes` consist of, in the byte order of this machine; nothing if
// they are anything else.
std::optional<RecordView> AsRecord(Bytes bytes);

// The position of a record for messages: "0x1a8", "0x1a8+0x30" inside a COMPRESSED record,
// "data.2:0x1a8" in a directory.
std::string PositionOf(const RecordView& record);

// Whether Linux or perf, up to 6.19, defines this type.
bool IsKnown(RecordType type);

// Whether records of this type contain records: COMPRESSED and COMPRESSED2.
constexpr bool IsCompressed(RecordType type) {
  return type == RecordType::kCompressed || type == RecordType::kCompressed2;
}

// "MMAP2" for PERF_RECORD_MMAP2, "SIMPLEPERF_DSO", "type 99" for an unknown type.
std::string RecordName(RecordType type);

// The only list of record types with a value, except SAMPLE, which has its own functions. Each
// struct contains its type number and name. The overload of Layout in kernel_layout.h or
// tool_layout.h is its layout.
template <class... Records>
struct RecordTypes {};
using AllRecordTypes =
    RecordTypes<Mmap, Lost, Comm, Exit, Throttle, Unthrottle, Fork, Read, Mmap2, Aux, ItraceStart,
                LostSamples, Switch, SwitchCpuWide, Namespaces, Ksymbol, BpfEvent, Cgroup, TextPoke,
                AuxOutputHwId, CallchainDeferred, HeaderAttr, HeaderEventType, HeaderTracingData,
                HeaderBuildId, FinishedRound, IdIndex, AuxtraceInfo, Auxtrace, AuxtraceError,
                ThreadMap, CpuMap, StatConfig, Stat, StatRound, EventUpdate, TimeConv,
                HeaderFeature, CompressedData, FinishedInit, Compressed2Data, BpfMetadata,
                SchedstatCpu, SchedstatDomain>;

template <class Record, class... Records>
constexpr std::size_t IndexIn(RecordTypes<Records...> /*of*/) {
  const bool is_it[] = {std::is_same_v<Record, Records>...};
  return static_cast<std::size_t>(std::find(std::begin(is_it), std::end(is_it), true) - is_it);
}
template <class Record>
inline constexpr std::size_t kRecordIndex = IndexIn<Record>(AllRecordTypes{});

// Calls `visit` with a std::type_identity of the struct for records of this type, and returns true.
// Returns false if there is no such struct.
template <class Visitor, class... Records>
bool VisitRecordType(RecordType type, Visitor&& visit, RecordTypes<Records...> /*of*/) {
  return ((type == Records::kType && (visit(std::type_identity<Records>{}), true)) || ...);
}
template <class Visitor>
bool VisitRecordType(RecordType type, Visitor&& visit) {
  return VisitRecordType(type, visit, AllRecordTypes{});
}

// Decode and Encode for the type at `index` of AllRecordTypes. `value` points to such a struct.
Status DecodeByIndex(std::size_t index, const RecordView& record, const SampleFormat& format,
                     void* value);
Status EncodeByIndex(std::size_t index, const void* value, const SampleId& trailer,
                     const SampleFormat& format, std::uint16_t misc, std::vector<std::byte>& out);

// The value of a record. `format` is the format of the record's event (EventTable::EventOf). If the
// record is shorter than its fields, fails with kTruncated and names the record and its offset.
template <class Record>
Result<Record> Decode(const RecordView& record, const SampleFormat& format) {
  Record value;
  TRY(DecodeByIndex(kRecordIndex<Record>, record, format, &value));
  return value;
}
Result<Sample> DecodeSample(const RecordView& record, const SampleFormat& format);
// For a sample that DecodeSample refuses: the fields up to PERIOD, whose offsets do not depend on
// later fields. Nothing if the record does not contain all of them.
std::optional<Sample> RecoverSample(const RecordView& record, const SampleFormat& format);

// The sample_id trailer of a kernel record other than SAMPLE. All fields are zero if the event has
// no trailer or the record is too short for it.
SampleId DecodeSampleId(const RecordView& record, const SampleFormat& format);

// The time of a record in nanoseconds, from the sample or the trailer; 0 if it has none.
std::uint64_t TimeOf(const RecordView& record, const SampleFormat& format);

// Appends one whole record to `out`: header, body, trailer (of a kernel record, if `format` has
// one). kInvalidArgument, and nothing appended, if it would be larger than kMaxRecordSize.
template <class Record>
Status Encode(const Record& value, const SampleId& trailer, const SampleFormat& format,
              std::uint16_t misc, std::vector<std::byte>& out) {
  return EncodeByIndex(kRecordIndex<Record>, &value, trailer, format, misc, out);
}
// For tool records, which have no trailer.
template <class Record>
Status Encode(const Record& value, std::uint16_t misc, std::vector<std::byte>& out) {
  return Encode(value, SampleId{}, SampleFormat{}, misc, out);
}
Status EncodeSample(const Sample& sample, const SampleFormat& format, std::uint16_t misc,
                    std::vector<std::byte>& out);

// The misc bits of a cpu mode.
constexpr std::uint16_t MiscOf(CpuMode mode) {
  return static_cast<std::uint16_t>(mode);
}

}  // namespace perftape::perfdata
