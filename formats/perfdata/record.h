// SPDX-License-Identifier: Apache-2.0
// The records of a perf.data, as they lie in it and as values. A value's strings and arrays are
// views into the record, so it lives as long as the RecordView it came from.
//
//   TRY_ASSIGN(const Mmap2 mmap, Decode<Mmap2>(record, event.format));
//   Encode(mmap, SampleId{.time = now}, event.format, misc, out);
#pragma once

#include <cstdint>
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

// One record as it lies in the file, copied freely.
struct RecordView {
  RecordType type = {};
  std::uint16_t misc = 0;
  Bytes payload = {};             // what follows the 8 bytes of header
  std::uint64_t file_offset = 0;  // of the header; of the COMPRESSED record around it
  std::endian order = std::endian::native;
  // Whether the views live as long as the file's bytes. Else, where the record came out of a
  // COMPRESSED one or through a pipe, only until the cursor's next Next().
  bool is_lasting = true;
  // 0 is the file itself, or DIR/data of a directory; n the file DIR/data.(n-1).
  std::uint16_t part = 0;
  // Where the record begins in what a COMPRESSED one expands to; -1 of one that lies in the file.
  std::int32_t inside = -1;
  Bytes behind = {};  // of AUXTRACE and TRACING_DATA: what follows them, uncounted by their size
  std::uint16_t excess = 0;  // bytes behind the trailer that header.size counts (kernel_size.h)

  std::size_t size() const { return payload.size() + sizeof(RecordHeader); }
  std::size_t stored_size() const { return size() + excess; }  // header.size
  CpuMode cpumode() const { return static_cast<CpuMode>(misc & kMiscCpumodeMask); }
};

// Where a record is, for people: "0x1a8", "0x1a8+0x30" inside a COMPRESSED record,
// "data.2:0x1a8" in a directory.
std::string PlaceOf(const RecordView& record);

// Whether Linux or perf, up to 6.19, has records of this type.
bool IsKnown(RecordType type);

// "PERF_RECORD_MMAP2" without its prefix; "SIMPLEPERF_DSO"; "type 99" for what is unknown here.
std::string RecordName(RecordType type);

// Every record that has a value, the SAMPLE apart.
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

// Calls `visit` with a std::type_identity of the value that records of this type have, and returns
// true; false where there is none.
template <class Visitor, class... Records>
bool VisitRecordType(RecordType type, Visitor&& visit, RecordTypes<Records...> /*of*/) {
  return ((type == Records::kType && (visit(std::type_identity<Records>{}), true)) || ...);
}
template <class Visitor>
bool VisitRecordType(RecordType type, Visitor&& visit) {
  return VisitRecordType(type, visit, AllRecordTypes{});
}

// A record's value. kTruncated, naming the record and its offset, where the record is shorter than
// what it says it holds. `format` is that of the record's event (Reader::EventOf).
template <class Record>
Result<Record> Decode(const RecordView& record, const SampleFormat& format);
Result<Sample> DecodeSample(const RecordView& record, const SampleFormat& format);
// Of a sample that DecodeSample refuses: the fields up to PERIOD, which have their places whatever
// follows, if the record has them all.
std::optional<Sample> SalvageSample(const RecordView& record, const SampleFormat& format);

// The trailer of a kernel record that is no SAMPLE; all zero where the event has none, or the
// record is too short for it.
SampleId DecodeSampleId(const RecordView& record, const SampleFormat& format);

// When a record happened, from the sample or the trailer; 0 where it does not say.
std::uint64_t TimeOf(const RecordView& record, const SampleFormat& format);

// Appends one whole record to `out`: header, body, trailer (for kernel records, as `format` says).
// kInvalidArgument where it would be larger than kMaxRecordSize; then nothing is appended.
template <class Record>
Status Encode(const Record& value, const SampleId& trailer, const SampleFormat& format,
              std::uint16_t misc, std::vector<std::byte>& out);
// For tool records, which have no trailer.
template <class Record>
Status Encode(const Record& value, std::uint16_t misc, std::vector<std::byte>& out) {
  return Encode(value, SampleId{}, SampleFormat{}, misc, out);
}
Status EncodeSample(const Sample& sample, const SampleFormat& format, std::uint16_t misc,
                    std::vector<std::byte>& out);

// The misc bits that say a cpu mode.
constexpr std::uint16_t MiscOf(CpuMode mode) {
  return static_cast<std::uint16_t>(mode);
}

}  // namespace perftape::perfdata
