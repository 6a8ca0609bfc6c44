// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/record_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace perftape::perfdata {
namespace {

// The size of the smallest record of a type that readers accept, with its header
// (tools/perf/util/session.c, perf_event__min_size). A name at its end counts one byte for the NUL.
// Apart from MMAP2 (kNameOffsets), the kernel and perf never wrote a smaller one.
// HEADER_EVENT_TYPE is not in the table: perf requires 80 bytes, but Linux 3.x wrote fewer.
struct SmallestSize {
  RecordType type;
  std::size_t size;
};
constexpr auto kSmallestSizes = std::to_array<SmallestSize>({
    {RecordType::kMmap, 41},          {RecordType::kLost, 24},
    {RecordType::kComm, 17},          {RecordType::kExit, 32},
    {RecordType::kThrottle, 32},      {RecordType::kUnthrottle, 32},
    {RecordType::kFork, 32},          {RecordType::kRead, 24},
    {RecordType::kMmap2, 73},         {RecordType::kAux, 32},
    {RecordType::kItraceStart, 16},   {RecordType::kLostSamples, 16},
    {RecordType::kSwitchCpuWide, 16}, {RecordType::kNamespaces, 24},
    {RecordType::kKsymbol, 25},       {RecordType::kBpfEvent, 24},
    {RecordType::kCgroup, 17},        {RecordType::kTextPoke, 24},
    {RecordType::kAuxOutputHwId, 16}, {RecordType::kCallchainDeferred, 16},
    {RecordType::kHeaderAttr, 72},    {RecordType::kHeaderTracingData, 12},
    {RecordType::kHeaderBuildId, 36}, {RecordType::kIdIndex, 16},
    {RecordType::kAuxtraceInfo, 16},  {RecordType::kAuxtrace, 48},
    {RecordType::kAuxtraceError, 49}, {RecordType::kThreadMap, 16},
    {RecordType::kCpuMap, 16},        {RecordType::kStatConfig, 16},
    {RecordType::kStat, 48},          {RecordType::kStatRound, 24},
    {RecordType::kEventUpdate, 24},   {RecordType::kTimeConv, 32},
    {RecordType::kHeaderFeature, 16}, {RecordType::kCompressed2, 16},
    {RecordType::kBpfMetadata, 528},  {RecordType::kSchedstatCpu, 24},
});

// The offset in its payload at which readers look for a record's name. The MMAP2 of RHEL 7.0 has its
// name at 56 (kernel_layout.h, HasProtection). perf reads all MMAP2 at 64. So these checks report
// such a record if perf finds the end of the record or the trailer there instead of a name.
struct NameOffset {
  RecordType type;
  std::size_t offset;
};
constexpr auto kNameOffsets = std::to_array<NameOffset>({{RecordType::kMmap, 32},
                                                         {RecordType::kMmap2, 64},
                                                         {RecordType::kComm, 8},
                                                         {RecordType::kCgroup, 8},
                                                         {RecordType::kKsymbol, 16},
                                                         {RecordType::kHeaderBuildId, 28}});

// Records with a u64 count, directly followed by that many entries: the offset of the count in the
// payload, and the size of an entry in bytes.
struct CountOffset {
  RecordType type;
  std::size_t offset;
  std::size_t entry_size;
};
constexpr auto kCountOffsets = std::to_array<CountOffset>({{RecordType::kNamespaces, 8, 16},
                                                           {RecordType::kCallchainDeferred, 8, 8},
                                                           {RecordType::kIdIndex, 0, 32},
                                                           {RecordType::kThreadMap, 0, 24},
                                                           {RecordType::kStatConfig, 0, 16}});

template <class Table>
auto Find(const Table& table, RecordType type) {
  const auto found = std::ranges::find_if(table, [&](const auto& row) { return row.type == type; });
  return found == table.end() ? nullptr : &*found;
}

bool MayBeUnaligned(RecordType type) {
  return type == RecordType::kHeaderTracingData || type == RecordType::kHeaderFeature ||
         type == RecordType::kCompressed;
}

bool IsKernelType(RecordType type) {
  return std::to_underlying(type) < kFirstToolType;
}

}  // namespace

void RecordChecks::Check(const RecordView& record, const Event* event) {
  if (record.stored_size() % 8 != 0 && !MayBeUnaligned(record.type)) {
    report_.Add(Rule::kRecordSizeAlignment, record, [&] {
      return fmt::format("{} has {} bytes, not a multiple of 8", RecordName(record.type),
                         record.stored_size());
    });
  }
  if (record.excess > 0) CheckExcess(record);
  CheckType(record);
  if (!IsKnown(record.type) || !CheckSize(record)) return;
  if (IsKernelType(record.type) && event == nullptr && events_.size() > 1) {
    report_.Add(Rule::kRecordIdUnknown, record,
                [&] { return fmt::format("no event has the id of {}", RecordName(record.type)); });
  }
  std::size_t trailer = 0;
  if (event != nullptr && IsKernelType(record.type)) {
    trailer = std::min(event->format.trailer_size(), record.payload.size());
  }
  CheckName(record, trailer);
  CheckCounts(record, trailer);
}

// perf looks for the id at the end that header.size gives, after the excess bytes.
void RecordChecks::CheckExcess(const RecordView& record) {
  report_.Add(Rule::kRecordSizeExcess, record, [&] {
    return fmt::format("{} has {} bytes, but header.size is {}", RecordName(record.type),
                       record.size(), record.stored_size());
  });
  RecordView stored = record;
  stored.payload = Bytes(record.payload.data(), record.payload.size() + record.excess);
  if (events_.EventOf(stored) != nullptr) return;
  report_.Add(Rule::kRecordIdUnknown, record, [&] {
    return fmt::format("no event has the id at the end that header.size of {} gives",
                       RecordName(record.type));
  });
}

void RecordChecks::CheckType(const RecordView& record) {
  const auto add = [&](Rule rule, std::optional<Readers> breaks = std::nullopt) {
    report_.Add(
        rule, record,
        [&] {
          return fmt::format("the record has type {} ({})", std::to_underlying(record.type),
                             RecordName(record.type));
        },
        breaks);
  };
  if (!IsKnown(record.type)) {
    add(IsKernelType(record.type) ? Rule::kRecordTypeUnknown : Rule::kRecordTypePrivate);
    return;
  }
  switch (record.type) {
    case RecordType::kCompressed2:
      add(Rule::kRecordTypeNewer);
      break;
    case RecordType::kCallchainDeferred:
    case RecordType::kBpfMetadata:
    case RecordType::kSchedstatCpu:
    case RecordType::kSchedstatDomain:
      add(Rule::kRecordTypeNewer, kOldPerf | Readers::kPerfInject);
      break;
    case RecordType::kAuxOutputHwId:  // Linux 5.16
    case RecordType::kFinishedInit:   // Linux 6.0
      add(Rule::kRecordTypeNewerThan510);
      break;
    default:
      break;
  }
}

bool RecordChecks::CheckSize(const RecordView& record) {
  const auto* smallest = Find(kSmallestSizes, record.type);
  if (smallest == nullptr || record.size() >= smallest->size) return true;
  report_.Add(Rule::kRecordTooSmall, record, [&] {
    return fmt::format("{} has {} bytes, but needs at least {}", RecordName(record.type),
                       record.size(), smallest->size);
  });
  return false;
}

void RecordChecks::CheckName(const RecordView& record, std::size_t trailer) {
  const auto* field = Find(kNameOffsets, record.type);
  if (field == nullptr) return;
  const std::string_view rest = AsText(record.payload.subspan(field->offset));
  const std::size_t nul = rest.find('\0');
  if (nul == std::string_view::npos) {
    report_.Add(Rule::kRecordNameUnterminated, record, [&] {
      return fmt::format("the name of {} has {} bytes and no NUL", RecordName(record.type),
                         rest.size());
    });
  } else if (nul >= rest.size() - std::min(trailer, rest.size())) {
    report_.Add(Rule::kRecordNameInTrailer, record, [&] {
      return fmt::format("the name of {} has no NUL before the trailer", RecordName(record.type));
    });
  }
}

void RecordChecks::CheckCounts(const RecordView& record, std::size_t trailer) {
  const Bytes body = record.payload.first(record.payload.size() - trailer);
  const auto add = [&](std::uint64_t count, std::uint64_t most, std::string_view unit) {
    report_.Add(Rule::kRecordPayloadOverrun, record, [&] {
      return fmt::format("{} declares {} {}, but has room for {}", RecordName(record.type), count,
                         unit, most);
    });
  };
  if (record.type == RecordType::kTextPoke) {
    constexpr std::size_t kFixed = 12;  // { u64 addr; u16 old_len, new_len; u8 bytes[]; }
    ByteReader at(body, record.order);
    std::uint64_t address = 0;
    std::uint16_t old_length = 0, new_length = 0;
    at.Fixed(address);
    at.Fixed(old_length);
    at.Fixed(new_length);
    const std::uint64_t size = std::uint64_t{old_length} + new_length;
    if (!at.ok() || size > at.remaining()) {
      add(size, body.size() - std::min(body.size(), kFixed), "bytes");
    }
    return;
  }
  const auto* field = Find(kCountOffsets, record.type);
  if (field == nullptr) return;
  ByteReader at(body, record.order);
  at.Padding(field->offset);
  std::uint64_t count = 0;
  at.Fixed(count);
  const std::uint64_t most = at.remaining() / field->entry_size;
  if (!at.ok() || count > most) add(count, most, "entries");
}

}  // namespace perftape::perfdata
