// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record.h"

#include <fmt/format.h>

#include "formats/perfdata/layout.h"

namespace perftape::perfdata {
namespace {

std::unexpected<Error> Truncated(const RecordView& record) {
  return Fail(ErrorCode::kTruncated,
              fmt::format("record at {:#x}: {} of {} bytes is shorter than what it says it holds",
                          record.file_offset, RecordName(record.type), record.size()));
}

bool HasTrailer(RecordType type) {
  return std::to_underlying(type) < kFirstToolType && type != RecordType::kSample;
}

// How many of `bits` the events of this format carry, in bytes.
std::size_t SizeOf(const SampleFormat& format, std::uint64_t bits) {
  return sizeof(std::uint64_t) * static_cast<std::size_t>(std::popcount(format.sample_type & bits));
}

// Fills in a header for the record that begins at `start` and ends at the end of `out`.
Status CloseRecord(RecordType type, std::uint16_t misc, std::size_t start,
                   std::vector<std::byte>& out) {
  const std::size_t size = out.size() - start;
  if (size > kMaxRecordSize) {
    out.resize(start);
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} of {} bytes is larger than a record can be", RecordName(type), size));
  }
  const RecordHeader header{type, misc, static_cast<std::uint16_t>(size)};
  std::memcpy(out.data() + start, &header, sizeof header);
  return {};
}

void PadToWord(std::size_t start, std::vector<std::byte>& out) {
  const std::size_t size = out.size() - start;
  out.resize(start + (size + 7) / 8 * 8);
}

}  // namespace

bool IsKnown(RecordType type) {
  return (type >= RecordType::kMmap && type <= RecordType::kCallchainDeferred) ||
         (type >= RecordType::kHeaderAttr && type <= RecordType::kSchedstatDomain);
}

std::string RecordName(RecordType type) {
  switch (type) {
    case RecordType::kMmap:
      return "MMAP";
    case RecordType::kLost:
      return "LOST";
    case RecordType::kComm:
      return "COMM";
    case RecordType::kExit:
      return "EXIT";
    case RecordType::kThrottle:
      return "THROTTLE";
    case RecordType::kUnthrottle:
      return "UNTHROTTLE";
    case RecordType::kFork:
      return "FORK";
    case RecordType::kRead:
      return "READ";
    case RecordType::kSample:
      return "SAMPLE";
    case RecordType::kMmap2:
      return "MMAP2";
    case RecordType::kAux:
      return "AUX";
    case RecordType::kItraceStart:
      return "ITRACE_START";
    case RecordType::kLostSamples:
      return "LOST_SAMPLES";
    case RecordType::kSwitch:
      return "SWITCH";
    case RecordType::kSwitchCpuWide:
      return "SWITCH_CPU_WIDE";
    case RecordType::kNamespaces:
      return "NAMESPACES";
    case RecordType::kKsymbol:
      return "KSYMBOL";
    case RecordType::kBpfEvent:
      return "BPF_EVENT";
    case RecordType::kCgroup:
      return "CGROUP";
    case RecordType::kTextPoke:
      return "TEXT_POKE";
    case RecordType::kAuxOutputHwId:
      return "AUX_OUTPUT_HW_ID";
    case RecordType::kCallchainDeferred:
      return "CALLCHAIN_DEFERRED";
    case RecordType::kHeaderAttr:
      return "ATTR";
    case RecordType::kHeaderEventType:
      return "EVENT_TYPE";
    case RecordType::kHeaderTracingData:
      return "TRACING_DATA";
    case RecordType::kHeaderBuildId:
      return "BUILD_ID";
    case RecordType::kFinishedRound:
      return "FINISHED_ROUND";
    case RecordType::kIdIndex:
      return "ID_INDEX";
    case RecordType::kAuxtraceInfo:
      return "AUXTRACE_INFO";
    case RecordType::kAuxtrace:
      return "AUXTRACE";
    case RecordType::kAuxtraceError:
      return "AUXTRACE_ERROR";
    case RecordType::kThreadMap:
      return "THREAD_MAP";
    case RecordType::kCpuMap:
      return "CPU_MAP";
    case RecordType::kStatConfig:
      return "STAT_CONFIG";
    case RecordType::kStat:
      return "STAT";
    case RecordType::kStatRound:
      return "STAT_ROUND";
    case RecordType::kEventUpdate:
      return "EVENT_UPDATE";
    case RecordType::kTimeConv:
      return "TIME_CONV";
    case RecordType::kHeaderFeature:
      return "FEATURE";
    case RecordType::kCompressed:
      return "COMPRESSED";
    case RecordType::kFinishedInit:
      return "FINISHED_INIT";
    case RecordType::kCompressed2:
      return "COMPRESSED2";
    case RecordType::kBpfMetadata:
      return "BPF_METADATA";
    case RecordType::kSchedstatCpu:
      return "SCHEDSTAT_CPU";
    case RecordType::kSchedstatDomain:
      return "SCHEDSTAT_DOMAIN";
  }
  return fmt::format("type {}", std::to_underlying(type));
}

template <class Record>
Result<Record> Decode(const RecordView& record, const SampleFormat& format) {
  const std::size_t trailer = HasTrailer(record.type) ? format.trailer_size() : 0;
  if (record.payload.size() < trailer) return Truncated(record);
  Record value;
  ByteReader at(record.payload.first(record.payload.size() - trailer), record.order);
  Layout(at, value, record.misc);
  if (!at.ok()) return Truncated(record);
  return value;
}

template <class Record>
Status Encode(const Record& value, const SampleId& trailer, const SampleFormat& format,
              std::uint16_t misc, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  ByteWriter at(out);
  at.Padding(sizeof(RecordHeader));
  Layout(at, value, misc);
  PadToWord(start, out);
  if (HasTrailer(Record::kType) && format.sample_id_all) TrailerLayout(at, trailer, format);
  return CloseRecord(Record::kType, misc, start, out);
}

#define PERFTAPE_RECORD(Record)                                                       \
  template Result<Record> Decode<Record>(const RecordView&, const SampleFormat&);     \
  template Status Encode<Record>(const Record&, const SampleId&, const SampleFormat&, \
                                 std::uint16_t, std::vector<std::byte>&);
PERFTAPE_RECORD(Mmap)
PERFTAPE_RECORD(Mmap2)
PERFTAPE_RECORD(Comm)
PERFTAPE_RECORD(Fork)
PERFTAPE_RECORD(Exit)
PERFTAPE_RECORD(Lost)
PERFTAPE_RECORD(LostSamples)
PERFTAPE_RECORD(Throttle)
PERFTAPE_RECORD(Namespaces)
PERFTAPE_RECORD(Ksymbol)
PERFTAPE_RECORD(BpfEvent)
PERFTAPE_RECORD(Cgroup)
PERFTAPE_RECORD(SwitchCpuWide)
PERFTAPE_RECORD(TextPoke)
PERFTAPE_RECORD(HeaderBuildId)
PERFTAPE_RECORD(IdIndex)
PERFTAPE_RECORD(EventUpdate)
PERFTAPE_RECORD(HeaderFeature)
PERFTAPE_RECORD(FinishedRound)
PERFTAPE_RECORD(FinishedInit)
#undef PERFTAPE_RECORD

Result<Sample> DecodeSample(const RecordView& record, const SampleFormat& format) {
  Sample sample;
  ByteReader at(record.payload, record.order);
  SampleLayout(at, sample, format);
  if (!at.ok()) return Truncated(record);
  return sample;
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
