// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_size.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "formats/perfdata/body_shape.h"

namespace perftape::perfdata {
namespace {

// The size of the bytes between header and trailer, with the kernel's padding. Nothing if the
// record is shorter than its fields.
std::optional<std::size_t> BodySize(const RecordView& record) {
  if (!MayHaveExcess(record.type)) return {};
  const Bytes payload = record.payload;
  std::size_t size = ShapeOf(record.type)->fixed_size;
  if (payload.size() < size) return {};
  if (record.type == RecordType::kKsymbol) {
    const std::size_t nul = AsText(payload.subspan(size)).find('\0');
    if (nul == std::string_view::npos) return {};
    size += nul + 1;
  } else if (record.type == RecordType::kTextPoke) {
    const Result<TextPoke> poke = Decode<TextPoke>(record, SampleFormat{});
    if (!poke) return {};
    size += std::size_t{poke->old_length} + poke->new_length;
  }
  size = RoundUpToWord(size);
  if (size > payload.size()) return {};
  return size;
}

RecordView CutTo(const RecordView& record, std::size_t payload_size) {
  RecordView cut = record;
  cut.payload = record.payload.first(payload_size);
  cut.excess = static_cast<std::uint16_t>(record.payload.size() - payload_size);
  return cut;
}

// Whether the trailer at the end of the record has the id of an event with a trailer of this size.
bool HasKnownId(const RecordView& record, const SampleFormat& format, const EventTable& events) {
  const std::uint64_t id = DecodeSampleId(record, format).id;
  return id != 0 && events.HasId(id) &&
         events.FindById(id)->format.trailer_size() == format.trailer_size();
}

}  // namespace

std::size_t KernelSize(const RecordView& record, const SampleFormat& format) {
  const std::optional<std::size_t> body = BodySize(record);
  if (!body) return record.size();
  return std::min(record.size(), sizeof(RecordHeader) + *body + format.trailer_size());
}

RecordView WithoutExcess(const RecordView& record, const EventTable& events) {
  const std::optional<std::size_t> body = BodySize(record);
  if (!body || events.size() == 0) return record;
  const std::size_t size = record.payload.size();
  const auto ends_with = [&](const Event& event) {
    return *body + event.format.trailer_size() == size;
  };
  if (std::ranges::any_of(events.all(), ends_with)) return record;

  for (const Event& event : events.all()) {
    const std::size_t size_with_trailer = *body + event.format.trailer_size();
    if (size_with_trailer > size) continue;
    const RecordView cut = CutTo(record, size_with_trailer);
    if (HasKnownId(cut, event.format, events)) return cut;
    if (HasKnownId(record, event.format, events)) return record;
  }
  const std::size_t trailer = events[0].format.trailer_size();
  if (*body + trailer > size || IsZero(record.payload.subspan(*body, trailer))) return record;
  return CutTo(record, *body + trailer);
}

}  // namespace perftape::perfdata
