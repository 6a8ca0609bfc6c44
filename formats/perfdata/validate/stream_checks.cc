// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/stream_checks.h"

#include <fmt/core.h>

#include <algorithm>

#include "formats/perfdata/features.h"

namespace perftape::perfdata {
namespace {

// HEADER_LAST_FEATURE of perf 6.1 and 6.12: the end marker of a pipe's features.
constexpr std::uint64_t kLastFeature = 32;

constexpr std::string_view kTracingMagic = "\x17\x08\x44tracing";

}  // namespace

StreamChecks::StreamChecks(const Reader& reader, Report& report)
    : reader_(reader), report_(report) {
  const std::optional<Bytes> section = reader.feature(FeatureBit::kAuxtrace);
  if (section) {
    // { u64 count; { u64 file_offset, size; }[count]; }
    ByteReader at(*section, reader.order());
    std::uint64_t count = 0;
    at.Fixed(count);
    auto entry_offset = static_cast<std::uint64_t>(section->data() - reader.file().data()) + 8;
    for (; count > 0 && at.remaining() >= 16; --count, entry_offset += 16) {
      std::uint64_t offset = 0, size = 0;
      at.Fixed(offset);
      at.Fixed(size);
      index_.emplace(offset, IndexEntry{size, entry_offset});
    }
  }
  const std::optional<Bytes> tracing = reader.feature(FeatureBit::kTracingData);
  // Without a tracepoint, perf does not read the feature.
  const auto is_tracepoint = [](const Event& event) { return event.attr.type == kTypeTracepoint; };
  if (tracing && reader.container() == Container::kFile &&
      std::ranges::any_of(reader.events().all(), is_tracepoint) &&
      !AsText(*tracing).starts_with(kTracingMagic)) {
    report_.AddAt(Rule::kTracingDataUndecodable,
                  static_cast<std::uint64_t>(tracing->data() - reader.file().data()),
                  "the feature TRACING_DATA does not begin with its magic");
  }
}

void StreamChecks::Check(const RecordView& record) {
  if (reader_.container() == Container::kPipe) CheckPipeOrder(record);
  switch (record.type) {
    case RecordType::kHeaderAttr:
      CheckAttr(record);
      break;
    case RecordType::kHeaderFeature:
      CheckFeature(record);
      break;
    case RecordType::kIdIndex:
      CheckIdIndex(record);
      break;
    case RecordType::kHeaderTracingData:
      // simpleperf writes the data inside the record, perf after it.
      CheckTracingData(record.appended.empty() ? record.payload : record.appended, record);
      break;
    case RecordType::kAuxtrace:
      CheckAuxtrace(record);
      break;
    default:
      break;
  }
}

void StreamChecks::CheckPipeOrder(const RecordView& record) {
  if (record.type == RecordType::kHeaderAttr) {
    if (has_other_) {
      report_.Add(Rule::kPipeAttrLate, record,
                  [] { return std::string("HEADER_ATTR comes after other records"); });
    }
    has_attr_ = true;
  } else if (record.type == RecordType::kHeaderFeature) {
    return;
  } else {
    has_other_ = true;
    if (has_attr_ || record.type != RecordType::kSample) return;
    report_.Add(Rule::kPipeRecordBeforeAttr, record,
                [] { return std::string("SAMPLE comes before the first HEADER_ATTR"); });
  }
}

void StreamChecks::CheckAttr(const RecordView& record) {
  const Result<EventAttr> attr = DecodeAttr(record.payload, record.order);
  if (attr) return;
  report_.Add(Rule::kPipeAttrUndecodable, record,
              [&] { return fmt::format("HEADER_ATTR: {}", attr.error().message); });
}

void StreamChecks::CheckFeature(const RecordView& record) {
  if (reader_.container() != Container::kPipe) return;
  const auto feature = Decode<HeaderFeature>(record, SampleFormat{});
  if (!feature) return;
  // A feature without a payload is the end marker. perf expects its own HEADER_LAST_FEATURE.
  const bool is_fine =
      feature->bit < kLastFeature || (feature->bit == kLastFeature && feature->payload.empty());
  if (is_fine) return;
  report_.Add(Rule::kPipeFeatureUnknown, record, [&] {
    return fmt::format("HEADER_FEATURE has number {} and {} bytes", feature->bit,
                       feature->payload.size());
  });
}

void StreamChecks::CheckIdIndex(const RecordView& record) {
  const auto index = Decode<IdIndex>(record, SampleFormat{});
  if (!index) return;
  constexpr std::size_t kWordsOfEntry = 4;
  for (std::size_t i = 0; i + kWordsOfEntry <= index->words.size(); i += kWordsOfEntry) {
    const std::uint64_t id = index->words[i];
    if (reader_.events().HasId(id)) continue;
    report_.Add(Rule::kIdIndexUnknown, record,
                [&] { return fmt::format("ID_INDEX has id {}, which no event has", id); });
    return;
  }
}

void StreamChecks::CheckTracingData(Bytes bytes, const RecordView& record) {
  if (AsText(bytes).find(kTracingMagic) < 16) return;
  report_.Add(Rule::kTracingDataUndecodable, record,
              [&] { return fmt::format("{} bytes of TRACING_DATA have no magic", bytes.size()); });
}

void StreamChecks::CheckAuxtrace(const RecordView& record) {
  report_.Add(Rule::kAuxtracePresent, record, [&] {
    return fmt::format("{} bytes of trace follow AUXTRACE", record.appended.size());
  });
  const auto entry = index_.find(record.file_offset);
  if (entry == index_.end() || record.part != 0) return;
  if (entry->second.size == record.size()) index_.erase(entry);
}

void StreamChecks::Finish() {
  for (const auto& [offset, entry] : index_) {
    report_.AddAt(Rule::kAuxtraceIndex, entry.entry_offset,
                  fmt::format("no AUXTRACE of {} bytes is at {:#x}", entry.size, offset));
  }
}

}  // namespace perftape::perfdata
