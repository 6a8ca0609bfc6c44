// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_check.h"

#include <algorithm>
#include <utility>

#include "formats/perfdata/body_shape.h"
#include "formats/perfdata/kernel_size.h"
#include "formats/perfdata/record_cursor.h"
#include "formats/perfdata/sample_layout.h"

namespace perftape::rewrite {
namespace {

using perfdata::BodyShape;
using perfdata::Event;
using perfdata::RecordType;
using perfdata::RecordView;

constexpr std::size_t kLongestName = 4096 + 64;  // PATH_MAX, and padding

// RHEL 7.0 wrote no protection and no flags. No field marks such records.
constexpr std::size_t kNewFieldsOfMmap2 = 2 * sizeof(std::uint32_t);

constexpr RecordCheck kFits = {};
constexpr RecordCheck kLeftOver = {Fit::kLoose, "it has bytes after its last field"};
constexpr RecordCheck kTooShort = {Fit::kBroken, "fewer than its fields need"};
constexpr RecordCheck kNoName = {Fit::kBroken, "its name has no NUL"};
constexpr RecordCheck kOfNoEvent = {Fit::kBroken, "no event has its id"};
constexpr RecordCheck kOddMisc = {Fit::kLoose, "its misc has unknown bits"};

// A name ends in NUL and is padded to 8. No known writer pads it further.
RecordCheck JudgeName(Bytes field) {
  const std::string_view text = AsText(field.first(std::min(field.size(), kLongestName)));
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return kNoName;
  return field.size() - (end + 1) < 8 ? kFits : kLeftOver;
}

RecordCheck JudgeBody(const RecordView& record, const BodyShape& shape, Bytes body) {
  if (body.size() < shape.fixed_size) return kTooShort;
  const Bytes rest = body.subspan(shape.fixed_size);
  switch (shape.end) {
    case BodyShape::End::kNothing:
      return rest.empty() ? kFits : kLeftOver;
    case BodyShape::End::kName: {
      const RecordCheck name = JudgeName(rest);
      const bool may_be_old = name.fit == Fit::kBroken && record.type == RecordType::kMmap2;
      return may_be_old ? JudgeName(body.subspan(shape.fixed_size - kNewFieldsOfMmap2)) : name;
    }
    case BodyShape::End::kEntries: {
      const auto count = LoadFixed<std::uint64_t>(body.data() + shape.count_offset(), record.order);
      if (count > rest.size() / shape.entry_size) return kTooShort;
      // ID_INDEX has a second list after its first.
      const bool has_more =
          rest.size() != count * shape.entry_size && record.type != RecordType::kIdIndex;
      return has_more ? kLeftOver : kFits;
    }
    case BodyShape::End::kOpen:
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
    case RecordType::kCompressed:
      return size == 0 ? kTooShort : kFits;
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
  if (event == nullptr) return record.payload.size() < shape->fixed_size ? kTooShort : kFits;
  const std::size_t trailer = event->format.trailer_size();
  if (record.payload.size() < trailer) return kTooShort;
  const Bytes body = record.payload.first(record.payload.size() - trailer);
  if (record.type == RecordType::kRead) return JudgeRead(body, record.order, event->format);
  if (record.type == RecordType::kTextPoke) {
    const auto text = perfdata::Decode<perfdata::TextPoke>(record, event->format);
    return text ? kFits : kTooShort;
  }
  return JudgeBody(record, *shape, body);
}

// Bits 3 to 11 are not used by any writer, and the CPU modes end at 5.
bool HasOddMisc(const RecordView& record) {
  constexpr std::uint16_t kUnused = 0x0ff8;
  return (record.misc & kUnused) != 0 || (record.misc & perfdata::kMiscCpumodeMask) > 5;
}

}  // namespace

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
  const BodyShape* shape = perfdata::ShapeOf(record.type);
  if (shape == nullptr && record.type != RecordType::kSample) {
    return {Fit::kBroken, "its type is unknown"};
  }
  RecordCheck judgement;
  if (std::to_underlying(record.type) < perfdata::kFirstToolType) {
    judgement = JudgeKernelRecord(shape, record, events);
  } else {
    judgement = JudgeToolRecord(record);
    if (judgement.fit == Fit::kExact) judgement = JudgeBody(record, *shape, record.payload);
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
  const std::uint64_t appended = perfdata::AppendedSize(frame.record);
  if (appended > bytes.size() - header.size) {
    frame.size = appended > UINT64_MAX - header.size ? UINT64_MAX : header.size + appended;
    return Framing::kCut;
  }
  frame.record.appended = bytes.subspan(header.size, appended);
  frame.size += appended;
  return Framing::kWhole;
}

}  // namespace perftape::rewrite
