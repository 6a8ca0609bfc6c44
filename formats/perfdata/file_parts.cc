// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/file_parts.h"

#include <algorithm>
#include <cassert>

#include "formats/base/perfdata_magic.h"

namespace perftape::perfdata {
namespace {

void AppendSection(std::uint64_t offset, std::uint64_t size, std::vector<std::byte>& out) {
  ByteWriter at(out);
  at.Fixed(offset);
  at.Fixed(size);
}

// { perf_event_header; perf_event_attr attr; u64 ids[]; }
Status AppendAttrRecord(const Event& event, std::vector<std::byte>& out) {
  const std::size_t size =
      sizeof(RecordHeader) + event.attr.size + event.ids.size() * sizeof(std::uint64_t);
  if (size > kMaxRecordSize) {
    return Fail(ErrorCode::kUnsupported, "an event has more ids than an ATTR record can contain");
  }
  ByteWriter at(out);
  at.Fixed(RecordType::kHeaderAttr);
  at.Fixed(std::uint16_t{0});
  at.Fixed(static_cast<std::uint16_t>(size));
  EncodeAttr(event.attr, out);
  at.Words(WordArray(event.ids), event.ids.size());
  return {};
}

// { perf_event_header; u64 feat_id; char data[]; }, without padding. perf detects the fields of
// CPU_TOPOLOGY by its size, and aborts if padding makes it expect more.
Status AppendFeatureRecord(const Feature& feature, std::vector<std::byte>& out) {
  std::vector<std::byte> payload;
  EncodeFeature(feature.value, payload);
  const std::size_t size = sizeof(RecordHeader) + sizeof(std::uint64_t) + payload.size();
  if (size > kMaxRecordSize) {
    return Fail(ErrorCode::kInvalidArgument,
                "feature " + FeatureName(feature.bit) + " does not fit into a record");
  }
  ByteWriter at(out);
  at.Fixed(RecordType::kHeaderFeature);
  at.Fixed(std::uint16_t{0});
  at.Fixed(static_cast<std::uint16_t>(size));
  at.Fixed(std::uint64_t{std::to_underlying(feature.bit)});
  at.Blob(payload, payload.size());
  return {};
}

// { perf_event_header; u32 size; } and then `size` bytes, which the record does not contain.
void AppendTracingRecord(const Feature& feature, std::vector<std::byte>& out) {
  std::vector<std::byte> payload;
  EncodeFeature(feature.value, payload);
  payload.resize(RoundUpToWord(payload.size()));
  ByteWriter at(out);
  at.Fixed(RecordType::kHeaderTracingData);
  at.Fixed(std::uint16_t{0});
  at.Fixed(static_cast<std::uint16_t>(sizeof(RecordHeader) + sizeof(std::uint32_t)));
  at.Fixed(static_cast<std::uint32_t>(payload.size()));
  at.Blob(payload, payload.size());
}

// An EVENT_UPDATE with the name of the event. In a pipe, perf does not read names from EVENT_DESC.
Status AppendNameRecord(const Event& event, std::vector<std::byte>& out) {
  const EventUpdate update{.update_type = EventUpdate::kName,
                           .id = event.ids.empty() ? 0 : event.ids.front(),
                           .text = event.name};
  return Encode(update, 0, out);
}

}  // namespace

FileStart FileHead(std::span<const Event> events, std::span<const Feature> features) {
  std::uint32_t attr_size = events.empty() ? EventAttr::kSize : 0;
  std::vector<std::byte> ids;
  for (const Event& event : events) {
    attr_size = std::max(attr_size, event.attr.size);
    ByteWriter(ids).Words(WordArray(event.ids), event.ids.size());
  }
  // An entry of the table is an attribute, followed by the section of its ids.
  std::vector<std::byte> table;
  std::uint64_t ids_at = FileHeader::kSize;
  for (const Event& event : events) {
    EventAttr attr = event.attr;
    attr.size = attr_size;
    EncodeAttr(attr, table);
    const std::uint64_t size = event.ids.size() * sizeof(std::uint64_t);
    AppendSection(ids_at, size, table);
    ids_at += size;
  }
  FileStart start;
  std::vector<std::byte> sections;
  const std::uint64_t sections_at = ids_at + table.size();
  for (const Feature& feature : features) {
    const std::uint64_t offset = sections.size();
    EncodeFeature(feature.value, sections);
    start.features.push_back({feature.bit, {sections_at + offset, sections.size() - offset}});
  }
  std::ranges::sort(start.features, {}, &PlacedFeature::bit);
  const std::uint64_t data_offset = RoundUpToWord(sections_at + sections.size());

  std::vector<std::byte>& head = start.bytes;
  ByteWriter at(head);
  at.Fixed(kPerfDataMagic);
  at.Fixed(FileHeader::kSize);
  at.Fixed(std::uint64_t{attr_size + sizeof(Section)});
  AppendSection(ids_at, table.size(), head);
  at.Fixed(data_offset);
  at.Padding(sizeof(HeaderTail));
  at.Blob(ids, ids.size());
  at.Blob(table, table.size());
  at.Blob(sections, sections.size());
  at.Padding(data_offset - head.size());
  return start;
}

Result<std::vector<std::byte>> PipeHead(std::span<const Event> events,
                                        std::span<const Feature> features) {
  std::vector<std::byte> head;
  ByteWriter at(head);
  at.Fixed(kPerfDataMagic);
  at.Fixed(FileHeader::kPipeSize);
  for (const Event& event : events) TRY(AppendAttrRecord(event, head));
  for (const Feature& feature : features) {
    if (feature.bit == FeatureBit::kTracingData) continue;
    TRY(AppendFeatureRecord(feature, head));
  }
  // perf ends its features here; TRACING_DATA follows.
  for (const Feature& feature : features) {
    if (feature.bit == FeatureBit::kTracingData) AppendTracingRecord(feature, head);
  }
  for (const Event& event : events) {
    // perf assigns a name without an id to the first event.
    if (!event.ids.empty() || events.size() == 1) TRY(AppendNameRecord(event, head));
  }
  return head;
}

std::vector<std::byte> FeatureTable(std::span<const Feature> features, std::uint64_t at,
                                    HeaderTail& header) {
  std::vector<const Feature*> sorted;
  for (const Feature& feature : features) sorted.push_back(&feature);
  std::ranges::sort(sorted, {}, [](const Feature* feature) { return feature->bit; });

  std::vector<std::byte> table, sections;
  const std::uint64_t sections_at = at + sorted.size() * sizeof(Section);
  for (const Feature* feature : sorted) {
    const std::size_t start = sections.size();
    EncodeFeature(feature->value, sections);
    AppendSection(sections_at + start, sections.size() - start, table);
    header.Set(feature->bit);
  }
  table.insert(table.end(), sections.begin(), sections.end());
  return table;
}

std::vector<std::byte> TableInARecord(std::uint64_t at, std::span<const PlacedFeature> placed,
                                      Bytes compressed, HeaderTail& header) {
  constexpr std::size_t kNameSize = 64;  // MAX_EVENT_NAME
  constexpr std::size_t kSize = sizeof(RecordHeader) + sizeof(std::uint64_t) + kNameSize;
  const std::size_t sections = 1 + placed.size() + (compressed.empty() ? 0 : 1);
  const std::size_t payload_at = sections * sizeof(Section);
  assert(payload_at + compressed.size() <= kSize);
  std::vector<std::byte> record;
  ByteWriter out(record);
  out.Fixed(RecordType::kHeaderEventType);
  out.Fixed(std::uint16_t{0});
  out.Fixed(static_cast<std::uint16_t>(kSize));
  out.Fixed(std::uint64_t{0});  // event_id
  header.Set(FeatureBit::kReserved);
  for (const PlacedFeature& feature : placed) {
    AppendSection(feature.section.offset, feature.section.size, record);
    header.Set(feature.bit);
  }
  if (!compressed.empty()) {
    AppendSection(at + payload_at, compressed.size(), record);
    header.Set(FeatureBit::kCompressed);
  }
  out.Blob(compressed, kSize - payload_at);
  return record;
}

}  // namespace perftape::perfdata
