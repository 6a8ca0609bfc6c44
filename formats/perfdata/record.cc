// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "formats/perfdata/kernel_layout.h"
#include "formats/perfdata/tool_layout.h"

namespace perftape::perfdata {
namespace {

[[gnu::noinline]] std::unexpected<Error> Truncated(const RecordView& record) {
  return Fail(ErrorCode::kTruncated,
              fmt::format("record at {}: {} of {} bytes is shorter than what it says it holds",
                          PlaceOf(record), RecordName(record.type), record.size()));
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

struct NamedType {
  RecordType type;
  std::string_view name;
};
constexpr auto kNamedTypes =
    std::to_array<NamedType>({{RecordType::kMmap, "MMAP"},
                              {RecordType::kLost, "LOST"},
                              {RecordType::kComm, "COMM"},
                              {RecordType::kExit, "EXIT"},
                              {RecordType::kThrottle, "THROTTLE"},
                              {RecordType::kUnthrottle, "UNTHROTTLE"},
                              {RecordType::kFork, "FORK"},
                              {RecordType::kRead, "READ"},
                              {RecordType::kSample, "SAMPLE"},
                              {RecordType::kMmap2, "MMAP2"},
                              {RecordType::kAux, "AUX"},
                              {RecordType::kItraceStart, "ITRACE_START"},
                              {RecordType::kLostSamples, "LOST_SAMPLES"},
                              {RecordType::kSwitch, "SWITCH"},
                              {RecordType::kSwitchCpuWide, "SWITCH_CPU_WIDE"},
                              {RecordType::kNamespaces, "NAMESPACES"},
                              {RecordType::kKsymbol, "KSYMBOL"},
                              {RecordType::kBpfEvent, "BPF_EVENT"},
                              {RecordType::kCgroup, "CGROUP"},
                              {RecordType::kTextPoke, "TEXT_POKE"},
                              {RecordType::kAuxOutputHwId, "AUX_OUTPUT_HW_ID"},
                              {RecordType::kCallchainDeferred, "CALLCHAIN_DEFERRED"},
                              {RecordType::kHeaderAttr, "ATTR"},
                              {RecordType::kHeaderEventType, "EVENT_TYPE"},
                              {RecordType::kHeaderTracingData, "TRACING_DATA"},
                              {RecordType::kHeaderBuildId, "BUILD_ID"},
                              {RecordType::kFinishedRound, "FINISHED_ROUND"},
                              {RecordType::kIdIndex, "ID_INDEX"},
                              {RecordType::kAuxtraceInfo, "AUXTRACE_INFO"},
                              {RecordType::kAuxtrace, "AUXTRACE"},
                              {RecordType::kAuxtraceError, "AUXTRACE_ERROR"},
                              {RecordType::kThreadMap, "THREAD_MAP"},
                              {RecordType::kCpuMap, "CPU_MAP"},
                              {RecordType::kStatConfig, "STAT_CONFIG"},
                              {RecordType::kStat, "STAT"},
                              {RecordType::kStatRound, "STAT_ROUND"},
                              {RecordType::kEventUpdate, "EVENT_UPDATE"},
                              {RecordType::kTimeConv, "TIME_CONV"},
                              {RecordType::kHeaderFeature, "FEATURE"},
                              {RecordType::kCompressed, "COMPRESSED"},
                              {RecordType::kFinishedInit, "FINISHED_INIT"},
                              {RecordType::kCompressed2, "COMPRESSED2"},
                              {RecordType::kBpfMetadata, "BPF_METADATA"},
                              {RecordType::kSchedstatCpu, "SCHEDSTAT_CPU"},
                              {RecordType::kSchedstatDomain, "SCHEDSTAT_DOMAIN"}});

// Of simpleperf: SIMPLE_PERF_RECORD_KERNEL_SYMBOL and those behind it (record.h of
// platform_system_extras).
constexpr std::uint32_t kFirstSimpleperfType = 32769;
constexpr auto kSimpleperfNames = std::to_array<std::string_view>(
    {"KERNEL_SYMBOL", "DSO", "SYMBOL", "SPLIT", "SPLIT_END", "EVENT_ID", "CALLCHAIN",
     "UNWINDING_RESULT", "TRACING_DATA", "DEBUG"});

const NamedType* FindNamed(RecordType type) {
  return std::ranges::find(kNamedTypes, type, &NamedType::type);
}

}  // namespace

std::string PlaceOf(const RecordView& record) {
  std::string place = record.part == 0 ? "" : fmt::format("data.{}:", record.part - 1);
  fmt::format_to(std::back_inserter(place), "{:#x}", record.file_offset);
  if (record.inside >= 0) fmt::format_to(std::back_inserter(place), "+{:#x}", record.inside);
  return place;
}

bool IsKnown(RecordType type) {
  return FindNamed(type) != kNamedTypes.end();
}

std::string RecordName(RecordType type) {
  const auto* const named = FindNamed(type);
  if (named != kNamedTypes.end()) return std::string(named->name);
  const std::uint32_t number = std::to_underlying(type);
  if (number >= kFirstSimpleperfType && number - kFirstSimpleperfType < kSimpleperfNames.size()) {
    return fmt::format("SIMPLEPERF_{}", kSimpleperfNames[number - kFirstSimpleperfType]);
  }
  return fmt::format("type {}", number);
}

template <class Record>
Result<Record> Decode(const RecordView& record, const SampleFormat& format) {
  const std::size_t trailer = HasTrailer(record.type) ? format.trailer_size() : 0;
  if (record.payload.size() < trailer) return Truncated(record);
  Record value;
  ByteReader at(record.payload.first(record.payload.size() - trailer), record.order);
  Layout(at, value, RecordShape{record.misc, format});
  if (!at.ok()) return Truncated(record);
  return value;
}

template <class Record>
Status Encode(const Record& value, const SampleId& trailer, const SampleFormat& format,
              std::uint16_t misc, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  ByteWriter at(out);
  at.Padding(sizeof(RecordHeader));
  Layout(at, value, RecordShape{misc, format});
  // zstd would take padding for its next frame; perf looks for tracing data at byte 12.
  constexpr bool kEndsAnywhere =
      std::is_same_v<Record, CompressedData> || std::is_same_v<Record, HeaderTracingData>;
  if constexpr (!kEndsAnywhere) PadToWord(start, out);
  if (HasTrailer(Record::kType) && format.sample_id_all) TrailerLayout(at, trailer, format);
  return CloseRecord(Record::kType, misc, start, out);
}

#define PERFTAPE_RECORD(Record)                                                       \
  template Result<Record> Decode<Record>(const RecordView&, const SampleFormat&);     \
  template Status Encode<Record>(const Record&, const SampleId&, const SampleFormat&, \
                                 std::uint16_t, std::vector<std::byte>&);
PERFTAPE_RECORD(Mmap)
PERFTAPE_RECORD(Lost)
PERFTAPE_RECORD(Comm)
PERFTAPE_RECORD(Exit)
PERFTAPE_RECORD(Throttle)
PERFTAPE_RECORD(Unthrottle)
PERFTAPE_RECORD(Fork)
PERFTAPE_RECORD(Read)
PERFTAPE_RECORD(Mmap2)
PERFTAPE_RECORD(Aux)
PERFTAPE_RECORD(ItraceStart)
PERFTAPE_RECORD(LostSamples)
PERFTAPE_RECORD(Switch)
PERFTAPE_RECORD(SwitchCpuWide)
PERFTAPE_RECORD(Namespaces)
PERFTAPE_RECORD(Ksymbol)
PERFTAPE_RECORD(BpfEvent)
PERFTAPE_RECORD(Cgroup)
PERFTAPE_RECORD(TextPoke)
PERFTAPE_RECORD(AuxOutputHwId)
PERFTAPE_RECORD(CallchainDeferred)
PERFTAPE_RECORD(HeaderAttr)
PERFTAPE_RECORD(HeaderEventType)
PERFTAPE_RECORD(HeaderTracingData)
PERFTAPE_RECORD(HeaderBuildId)
PERFTAPE_RECORD(FinishedRound)
PERFTAPE_RECORD(IdIndex)
PERFTAPE_RECORD(AuxtraceInfo)
PERFTAPE_RECORD(Auxtrace)
PERFTAPE_RECORD(AuxtraceError)
PERFTAPE_RECORD(ThreadMap)
PERFTAPE_RECORD(CpuMap)
PERFTAPE_RECORD(StatConfig)
PERFTAPE_RECORD(Stat)
PERFTAPE_RECORD(StatRound)
PERFTAPE_RECORD(EventUpdate)
PERFTAPE_RECORD(TimeConv)
PERFTAPE_RECORD(HeaderFeature)
PERFTAPE_RECORD(CompressedData)
PERFTAPE_RECORD(FinishedInit)
PERFTAPE_RECORD(Compressed2Data)
PERFTAPE_RECORD(BpfMetadata)
PERFTAPE_RECORD(SchedstatCpu)
PERFTAPE_RECORD(SchedstatDomain)
#undef PERFTAPE_RECORD

// With all of the layout in one function the reader's place stays in registers: half the time.
[[gnu::flatten]] Result<Sample> DecodeSample(const RecordView& record, const SampleFormat& format) {
  Result<Sample> sample;  // decoded where it is returned: it is large
  ByteReader at(record.payload, record.order);
  SampleLayout(at, *sample, format);
  if (!at.ok()) sample = Truncated(record);
  return sample;
}

std::optional<Sample> SalvageSample(const RecordView& record, const SampleFormat& format) {
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
  std::uint64_t turned = 0;
  unsigned at = 0;
  for (const unsigned width : kWidths) {
    const std::uint64_t field = flags >> (64 - at - width) & ((std::uint64_t{1} << width) - 1);
    turned |= field << at;
    at += width;
  }
  return turned;
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
