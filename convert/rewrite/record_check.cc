// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "formats/perfdata/kernel_size.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::rewrite {
namespace {

using perfdata::Event;
using perfdata::RecordType;
using perfdata::RecordView;

constexpr std::size_t kLongestName = 4096 + 64;  // PATH_MAX, and padding

constexpr std::size_t kOldMmap2Size = 56;

constexpr RecordCheck kFits = {};
constexpr RecordCheck kLeftOver = {Fit::kLoose, "it has bytes after its last field"};
constexpr RecordCheck kTooShort = {Fit::kBroken, "fewer than its fields need"};
constexpr RecordCheck kNoName = {Fit::kBroken, "its name has no NUL"};
constexpr RecordCheck kOfNoEvent = {Fit::kBroken, "no event has its id"};
constexpr RecordCheck kOddMisc = {Fit::kLoose, "its misc has unknown bits"};

enum class Shape : std::uint8_t {
  kFixed,    // only its fixed fields
  kNamed,    // followed by a name, padded to 8
  kCounted,  // followed by items; the last fixed word is their count
  kOpen,     // followed by bytes that are not checked
};

// The shape of a body, the bytes between a record's header and its trailer. Sizes come from
// include/uapi/linux/perf_event.h and tools/lib/perf/include/perf/event.h.
struct BodyShape {
  RecordType type;
  Shape shape = Shape::kFixed;
  std::uint16_t fixed = 0;
  std::uint16_t item = 0;  // bytes of an item, for kCounted; its count is the last fixed word
};

constexpr auto kShapes = std::to_array<BodyShape>({
    {RecordType::kMmap, Shape::kNamed, 32},
    {RecordType::kLost, Shape::kFixed, 16},
    {RecordType::kComm, Shape::kNamed, 8},
    {RecordType::kExit, Shape::kFixed, 24},
    {RecordType::kThrottle, Shape::kFixed, 24},
    {RecordType::kUnthrottle, Shape::kFixed, 24},
    {RecordType::kFork, Shape::kFixed, 24},
    {RecordType::kRead, Shape::kOpen, 16},
    {RecordType::kMmap2, Shape::kNamed, 64},
    {RecordType::kAux, Shape::kFixed, 24},
    {RecordType::kItraceStart, Shape::kFixed, 8},
    {RecordType::kLostSamples, Shape::kFixed, 8},
    {RecordType::kSwitch, Shape::kFixed, 0},
    {RecordType::kSwitchCpuWide, Shape::kFixed, 8},
    {RecordType::kNamespaces, Shape::kCounted, 16, 16},
    {RecordType::kKsymbol, Shape::kNamed, 16},
    {RecordType::kBpfEvent, Shape::kFixed, 16},
    {RecordType::kCgroup, Shape::kNamed, 8},
    {RecordType::kTextPoke, Shape::kOpen, 12},
    {RecordType::kAuxOutputHwId, Shape::kFixed, 8},
    {RecordType::kCallchainDeferred, Shape::kCounted, 16, 8},
    {RecordType::kHeaderAttr, Shape::kOpen, 64},
    {RecordType::kHeaderEventType, Shape::kOpen, 8},
    {RecordType::kHeaderTracingData, Shape::kOpen, 4},
    {RecordType::kHeaderBuildId, Shape::kNamed, 28},
    {RecordType::kFinishedRound, Shape::kFixed, 0},
    {RecordType::kIdIndex, Shape::kCounted, 8, 32},
    {RecordType::kAuxtraceInfo, Shape::kOpen, 8},
    {RecordType::kAuxtrace, Shape::kFixed, 40},
    {RecordType::kAuxtraceError, Shape::kOpen, 40},
    {RecordType::kThreadMap, Shape::kCounted, 8, 24},
    {RecordType::kCpuMap, Shape::kOpen, 2},
    {RecordType::kStatConfig, Shape::kCounted, 8, 16},
    {RecordType::kStat, Shape::kFixed, 40},
    {RecordType::kStatRound, Shape::kFixed, 16},
    {RecordType::kEventUpdate, Shape::kOpen, 16},
    {RecordType::kTimeConv, Shape::kOpen, 24},
    {RecordType::kHeaderFeature, Shape::kOpen, 8},
    {RecordType::kCompressed, Shape::kOpen, 1},
    {RecordType::kFinishedInit, Shape::kFixed, 0},
    {RecordType::kCompressed2, Shape::kOpen, 8},
    {RecordType::kBpfMetadata, Shape::kOpen, 520},
    {RecordType::kSchedstatCpu, Shape::kOpen, 16},
    {RecordType::kSchedstatDomain, Shape::kOpen, 16},
});

const BodyShape* ShapeOf(RecordType type) {
  const auto* const found = std::ranges::find(kShapes, type, &BodyShape::type);
  return found == kShapes.end() ? nullptr : found;
}

// A name ends in NUL and is padded to 8. No known writer pads it further.
RecordCheck JudgeName(Bytes field) {
  const std::string_view text = AsText(field.first(std::min(field.size(), kLongestName)));
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return kNoName;
  return field.size() - (end + 1) < 8 ? kFits : kLeftOver;
}

RecordCheck JudgeBody(const BodyShape& shape, Bytes body, std::endian order) {
  if (body.size() < shape.fixed) return kTooShort;
  const Bytes rest = body.subspan(shape.fixed);
  switch (shape.shape) {
    case Shape::kFixed:
      return rest.empty() ? kFits : kLeftOver;
    case Shape::kNamed: {
      const RecordCheck name = JudgeName(rest);
      // RHEL 7.0 wrote no protection and no flags. No field marks such records.
      const bool may_be_old = name.fit == Fit::kBroken && shape.type == RecordType::kMmap2;
      return may_be_old ? JudgeName(body.subspan(kOldMmap2Size)) : name;
    }
    case Shape::kCounted: {
      const std::byte* count_at = body.data() + shape.fixed - sizeof(std::uint64_t);
      const auto count = LoadFixed<std::uint64_t>(count_at, order);
      if (count > rest.size() / shape.item) return kTooShort;
      // ID_INDEX has a second list after its first.
      const bool has_more = rest.size() != count * shape.item && shape.type != RecordType::kIdIndex;
      return has_more ? kLeftOver : kFits;
    }
    case Shape::kOpen:
      return kFits;
  }
  return kFits;
}

RecordCheck JudgeSample(const RecordView& record, const perfdata::SampleFormat& format) {
  perfdata::Sample sample;
  ByteReader at(record.payload, record.order);
  perfdata::SampleLayout(at, sample, format);
  if (!at.ok()) return kTooShort;
  return at.remaining() < sizeof(std::uint64_t) ? kFits : kLeftOver;
}

// READ: pid, tid and a READ block.
RecordCheck JudgeRead(Bytes body, std::endian order, const perfdata::SampleFormat& format) {
  WordArray counters;
  ByteReader at(body, order);
  at.Padding(sizeof(std::uint64_t));
  perfdata::ReadLayout(at, counters, format.read_format);
  if (!at.ok()) return kTooShort;
  return at.remaining() == 0 ? kFits : kLeftOver;
}

// Records of perf itself. Some of them allow further checks.
RecordCheck JudgeToolRecord(const RecordView& record) {
  const std::size_t size = record.payload.size();
  ByteReader at(record.payload, record.order);
  std::uint32_t ignored = 0, attr_size = 0;
  std::uint64_t data_size = 0;
  switch (record.type) {
    case RecordType::kFinishedRound:
    case RecordType::kFinishedInit:
      // A marker with a body is a record whose type was damaged.
      return size == 0 ? kFits : RecordCheck{Fit::kBroken, "a marker cannot have a payload"};
    case RecordType::kHeaderAttr:
      at.Fixed(ignored);
      at.Fixed(attr_size);
      if (attr_size < perfdata::EventAttr::kSmallestSize || attr_size > size) {
        return {Fit::kLoose, "the size of its attribute is wrong"};
      }
      return (size - attr_size) % sizeof(std::uint64_t) == 0 ? kFits : kLeftOver;
    case RecordType::kCompressed2:
      at.Fixed(data_size);
      if (data_size > size - sizeof data_size) return kTooShort;
      return kFits;
    case RecordType::kTimeConv:
      return size == 24 || size == 48 ? kFits : kLeftOver;
    default:
      return kFits;
  }
}

RecordCheck JudgeKernelRecord(const BodyShape* shape, const RecordView& record,
                              const perfdata::EventTable& events) {
  const Event* event = events.EventOf(record);
  if (event == nullptr && events.size() != 0) return kOfNoEvent;
  if (record.type == RecordType::kSample) {
    if (event != nullptr) return JudgeSample(record, event->format);
    return record.payload.size() < sizeof(std::uint64_t) ? kTooShort : kFits;
  }
  if (event == nullptr) return record.payload.size() < shape->fixed ? kTooShort : kFits;
  const std::size_t trailer = event->format.trailer_size();
  if (record.payload.size() < trailer) return kTooShort;
  const Bytes body = record.payload.first(record.payload.size() - trailer);
  if (record.type == RecordType::kRead) return JudgeRead(body, record.order, event->format);
  if (record.type == RecordType::kTextPoke) {
    const auto text = perfdata::Decode<perfdata::TextPoke>(record, event->format);
    return text ? kFits : kTooShort;
  }
  return JudgeBody(*shape, body, record.order);
}

// Two tool records are followed by bytes that their size does not count: the tracing data, padded
// to 8 (perf_event__synthesize_tracing_data), and an AUX trace (perf_event__process_auxtrace).
std::uint64_t AppendedSize(RecordType type, Bytes payload, std::endian order) {
  ByteReader at(payload, order);
  if (type == RecordType::kHeaderTracingData) {
    // simpleperf puts the data inside the record.
    if (payload.size() > sizeof(std::uint64_t)) return 0;
    std::uint32_t size = 0;
    at.Fixed(size);
    return (std::uint64_t{size} + 7) / 8 * 8;
  }
  std::uint64_t size = 0;
  if (type == RecordType::kAuxtrace) at.Fixed(size);
  return size;
}

// Bits 3 to 11 are not used by any writer, and the CPU modes end at 5.
bool HasOddMisc(const RecordView& record) {
  constexpr std::uint16_t kUnused = 0x0ff8;
  return (record.misc & kUnused) != 0 || (record.misc & perfdata::kMiscCpumodeMask) > 5;
}

}  // namespace

bool IsCompressed(RecordType type) {
  return type == RecordType::kCompressed || type == RecordType::kCompressed2;
}

bool MayBeForeign(const RecordView& record) {
  // All known writers use 16 bits for types. They pad records to 8. Only simpleperf's first record
  // has 12 bytes if it has no kernel symbols.
  constexpr std::uint32_t kTypesEnd = 1 << 16;
  const auto type = std::to_underlying(record.type);
  return type != 0 && type < kTypesEnd && !perfdata::IsKnown(record.type) &&
         record.size() % sizeof(std::uint32_t) == 0 && !HasOddMisc(record);
}

RecordCheck CheckRecord(const RecordView& stored, const perfdata::EventTable& events) {
  const RecordView record = WithoutExcess(stored, events);
  const BodyShape* shape = ShapeOf(record.type);
  if (shape == nullptr && record.type != RecordType::kSample) {
    return {Fit::kBroken, "its type is unknown"};
  }
  RecordCheck judgement;
  if (std::to_underlying(record.type) < perfdata::kFirstToolType) {
    judgement = JudgeKernelRecord(shape, record, events);
  } else {
    judgement = JudgeToolRecord(record);
    if (judgement.fit == Fit::kExact) judgement = JudgeBody(*shape, record.payload, record.order);
  }
  return judgement.fit == Fit::kExact && HasOddMisc(record) ? kOddMisc : judgement;
}

Framing ReadFrame(Bytes bytes, std::endian order, Frame& frame) {
  ByteReader at(bytes, order);
  perfdata::RecordHeader header = {};
  at.Fixed(header.type);
  at.Fixed(header.misc);
  at.Fixed(header.size);
  frame = {};
  frame.record.order = order;
  if (!at.ok()) return Framing::kCut;
  frame.record.type = header.type;
  frame.record.misc = header.misc;
  frame.size = header.size;
  if (header.size < sizeof header) return Framing::kNotAFrame;
  if (header.size > bytes.size()) return Framing::kCut;
  frame.record.payload = bytes.subspan(sizeof header, header.size - sizeof header);
  const std::uint64_t appended = AppendedSize(header.type, frame.record.payload, order);
  if (appended > bytes.size() - header.size) {
    frame.size = appended > UINT64_MAX - header.size ? UINT64_MAX : header.size + appended;
    return Framing::kCut;
  }
  frame.record.appended = bytes.subspan(header.size, appended);
  frame.size += appended;
  return Framing::kWhole;
}

}  // namespace perftape::rewrite
