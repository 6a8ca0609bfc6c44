// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/record_checks.h"

#include <fmt/core.h>

#include <algorithm>

#include "formats/perfdata/body_shape.h"

namespace perftape::perfdata {
namespace {

bool MayBeUnaligned(RecordType type) {
  return type == RecordType::kHeaderTracingData || type == RecordType::kHeaderFeature ||
         type == RecordType::kCompressed;
}

bool IsKernelType(RecordType type) {
  return std::to_underlying(type) < kFirstToolType;
}

// The size of the smallest record of a type that readers accept, with its header
// (tools/perf/util/session.c, perf_event__min_size). Apart from the MMAP2 of RHEL 7.0 (CheckName),
// the kernel and perf never wrote a smaller one.
std::size_t SmallestSize(RecordType type, const BodyShape& shape) {
  const std::size_t size = sizeof(RecordHeader) + shape.fixed_size;
  constexpr std::size_t kNul = 1;  // of the shortest name
  if (shape.end == BodyShape::End::kName) return size + kNul;
  // In the first of its formats this record has no time. perf needs it, and a message.
  if (type == RecordType::kAuxtraceError) return size + sizeof(AuxtraceError::time) + kNul;
  return MayBeUnaligned(type) ? size : RoundUpToWord(size);
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
  const BodyShape* shape = ShapeOf(record.type);
  if (shape == nullptr) return true;  // SAMPLE
  const std::size_t smallest = SmallestSize(record.type, *shape);
  if (record.size() >= smallest) return true;
  report_.Add(Rule::kRecordTooSmall, record, [&] {
    return fmt::format("{} has {} bytes, but needs at least {}", RecordName(record.type),
                       record.size(), smallest);
  });
  return false;
}

// The MMAP2 of RHEL 7.0 has its name 8 bytes earlier than all others (HasProtection in
// kernel_layout.h). perf looks for it at the same offset in all. So such a record is reported if
// perf finds the end of the record or the trailer there.
void RecordChecks::CheckName(const RecordView& record, std::size_t trailer) {
  const BodyShape* shape = ShapeOf(record.type);
  if (shape == nullptr || shape->end != BodyShape::End::kName) return;
  const std::string_view rest = AsText(record.payload.subspan(shape->fixed_size));
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
  const BodyShape* shape = ShapeOf(record.type);
  if (shape == nullptr) return;
  if (record.type == RecordType::kTextPoke) {
    ByteReader at(body, record.order);
    std::uint64_t address = 0;
    std::uint16_t old_length = 0, new_length = 0;
    at.Fixed(address);
    at.Fixed(old_length);
    at.Fixed(new_length);
    const std::uint64_t size = std::uint64_t{old_length} + new_length;
    if (!at.ok() || size > at.remaining()) {
      add(size, body.size() - std::min<std::size_t>(body.size(), shape->fixed_size), "bytes");
    }
    return;
  }
  if (shape->end != BodyShape::End::kEntries) return;
  ByteReader at(body, record.order);
  at.Padding(shape->count_offset());
  std::uint64_t count = 0;
  at.Fixed(count);
  const std::uint64_t most = at.remaining() / shape->entry_size;
  if (!at.ok() || count > most) add(count, most, "entries");
}

}  // namespace perftape::perfdata
