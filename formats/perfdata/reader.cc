// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace perftape::perfdata {
namespace {

// The magic is a number: a little-endian machine writes it as the text that it is, a big-endian one
// backwards.
constexpr std::string_view kMagicLittle = "PERFILE2";
constexpr std::string_view kMagicBig = "2ELIFREP";
constexpr std::uint64_t kPipeHeaderSize = 16;
constexpr std::uint64_t kFileHeaderSize = 104;
constexpr std::uint64_t kOldFileHeaderSize = 72;  // without the feature bitmap

struct Section {
  std::uint64_t offset = 0, size = 0;
};

// struct perf_file_header, tools/perf/util/header.h.
struct FileHeader {
  std::uint64_t magic = 0, size = 0, attr_size = 0;
  Section attrs, data, event_types;
  std::array<std::uint64_t, 4> features = {};
};

void SectionLayout(ByteReader& at, Section& section) {
  at.Fixed(section.offset);
  at.Fixed(section.size);
}

FileHeader DecodeFileHeader(ByteReader& at) {
  FileHeader header;
  at.Fixed(header.magic);
  at.Fixed(header.size);
  at.Fixed(header.attr_size);
  SectionLayout(at, header.attrs);
  SectionLayout(at, header.data);
  SectionLayout(at, header.event_types);
  if (header.size == kOldFileHeaderSize) return header;
  for (std::uint64_t& word : header.features) at.Fixed(word);
  return header;
}

// The section's bytes, if the file has them all.
std::optional<Bytes> BytesOf(const Section& section, Bytes file) {
  if (section.offset > file.size() || section.size > file.size() - section.offset) return {};
  return file.subspan(section.offset, section.size);
}

// Two tool records are followed by bytes that their size does not count: the tracing data, padded
// to 8 (perf_event__synthesize_tracing_data), and an AUX trace (perf_event__process_auxtrace).
std::uint64_t BytesBehind(RecordType type, Bytes payload, std::endian order) {
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

}  // namespace

bool LooksLikePerfData(Bytes beginning) {
  const std::string_view text = AsText(beginning);
  return text.starts_with(kMagicLittle) || text.starts_with(kMagicBig);
}

Result<std::optional<RecordView>> RecordCursor::Next() {
  if (left_.empty()) return std::nullopt;
  ByteReader at(left_, order_);
  RecordHeader header = {};
  at.Fixed(header.type);
  at.Fixed(header.misc);
  at.Fixed(header.size);
  const std::uint64_t offset = file_offset_;
  const std::size_t left = left_.size();
  if (!at.ok() || header.size > left) {
    left_ = {};
    return Fail(
        ErrorCode::kTruncated,
        fmt::format("record at {:#x}: {} bytes are left, which is no whole record", offset, left));
  }
  if (header.size < sizeof header) {
    left_ = {};
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("record at {:#x}: size {} is less than its header's", offset, header.size));
  }
  const Bytes record = left_.first(header.size);
  const std::uint64_t behind = BytesBehind(header.type, record.subspan(sizeof header), order_);
  if (behind > left - header.size) {
    left_ = {};
    return Fail(ErrorCode::kTruncated,
                fmt::format("record at {:#x}: {} says that {} bytes follow it, of {} left", offset,
                            RecordName(header.type), behind, left - header.size));
  }
  left_ = left_.subspan(header.size + behind);
  file_offset_ += header.size + behind;
  return RecordView{.type = header.type,
                    .misc = header.misc,
                    .payload = record.subspan(sizeof header),
                    .file_offset = offset,
                    .order = order_};
}

void EventTable::Add(Event event) {
  const std::size_t index = events_.size();
  for (const std::uint64_t id : event.ids) by_id_.try_emplace(id, index);
  events_.push_back(std::move(event));
}

void EventTable::AddId(std::size_t index, std::uint64_t id) {
  if (by_id_.try_emplace(id, index).second) events_[index].ids.push_back(id);
}

const Event* EventTable::FindById(std::uint64_t id) const {
  if (events_.empty()) return nullptr;
  if (id == 0 || events_.size() == 1) return &events_.front();
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &events_[found->second];
}

const Event* EventTable::EventOf(const RecordView& record) const {
  if (events_.empty()) return nullptr;
  const Event& first = events_.front();
  const bool is_tool_record = std::to_underlying(record.type) >= kFirstToolType;
  if (events_.size() == 1 || is_tool_record) return &first;

  // perf demands that all events keep the id in the same place (evlist__valid_sample_type).
  const SampleFormat& format = first.format;
  const auto words = [&](std::uint64_t bits) {
    return static_cast<std::size_t>(std::popcount(format.sample_type & bits));
  };
  const std::size_t size = record.payload.size() / sizeof(std::uint64_t);
  std::size_t place = 0;
  if (record.type == RecordType::kSample) {
    if (!format.Has(kIdentifier)) {
      if (!format.Has(kId)) return &first;
      place = words(kIp | kTid | kTime | kAddr);
    }
  } else {
    if (!format.sample_id_all) return &first;
    if (!format.Has(kIdentifier) && !format.Has(kId)) return &first;
    const std::size_t from_end = format.Has(kIdentifier) ? 1 : words(kId | kStreamId | kCpu);
    if (from_end > size) return nullptr;
    place = size - from_end;
  }
  if (place >= size) return nullptr;
  const std::byte* at = record.payload.data() + place * sizeof(std::uint64_t);
  return FindById(LoadFixed<std::uint64_t>(at, record.order));
}

Result<Reader> Reader::FromBytes(Bytes file) {
  if (file.empty()) return Fail(ErrorCode::kTruncated, "the file is empty");
  if (!LooksLikePerfData(file)) {
    return Fail(ErrorCode::kCorrupt, "at 0x0: no perf.data: it does not begin with PERFILE2");
  }
  Reader reader;
  reader.file_ = file;
  reader.order_ = AsText(file).starts_with(kMagicLittle) ? std::endian::little : std::endian::big;
  ByteReader at(file, reader.order_);
  std::uint64_t magic = 0, size = 0;
  at.Fixed(magic);
  at.Fixed(size);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "at 0x0: the file ends inside its header");
  TRY(size == kPipeHeaderSize ? reader.OpenPipe(file) : reader.OpenFile(file));
  if (reader.events_.size() == 0) {
    return Fail(ErrorCode::kCorrupt, "no event is described: not one attribute was found");
  }
  reader.NameEvents();
  return reader;
}

Status Reader::OpenFile(Bytes file) {
  container_ = Container::kFile;
  ByteReader at(file, order_);
  const FileHeader header = DecodeFileHeader(at);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "at 0x0: the file ends inside its header");
  if (header.size != kFileHeaderSize && header.size != kOldFileHeaderSize) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("at 0x8: header size {} is none that perf knows", header.size));
  }
  const std::optional<Bytes> attrs = BytesOf(header.attrs, file);
  if (!attrs)
    return Fail(ErrorCode::kTruncated, "at 0x18: the attributes lie behind the file's end");
  TRY(ReadAttrs(file, *attrs, header.attr_size));

  data_offset_ = std::min<std::uint64_t>(header.data.offset, file.size());
  const std::uint64_t there = file.size() - data_offset_;
  data_size_ = std::min(header.data.size, there);
  if (data_size_ < header.data.size) {
    problems_.push_back(fmt::format("at 0x28: data of {} bytes at {:#x} runs {} bytes past the end",
                                    header.data.size, header.data.offset,
                                    header.data.size - data_size_));
    return {};
  }
  const std::size_t problems_before = problems_.size();
  ReadFeatureTable(file, header.features);
  // perf writes data.size last, the feature bits first. Where it was killed in between, records lie
  // where the bits tell of a feature table.
  const bool has_table = !features_.empty() && problems_.size() == problems_before;
  if (header.data.size == 0 && there > 0 && !has_table) {
    features_.clear();
    problems_.resize(problems_before);
    problems_.push_back(
        fmt::format("at 0x30: data size is 0: the recording did not end well; the "
                    "{} bytes to the end of the file are taken for records",
                    there));
    data_size_ = there;
  }
  return {};
}

// Each entry: the attribute, then { u64 offset, size; } of its ids.
Status Reader::ReadAttrs(Bytes file, Bytes attrs, std::uint64_t entry_size) {
  if (entry_size < EventAttr::kSmallestSize + sizeof(Section)) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("at 0x10: attribute size {} is too small", entry_size));
  }
  while (attrs.size() >= entry_size) {
    const auto offset = static_cast<std::uint64_t>(attrs.data() - file.data());
    const std::size_t attr_size = entry_size - sizeof(Section);
    Result<EventAttr> attr = DecodeAttr(attrs.first(attr_size), order_);
    if (!attr) {
      return Fail(InContext(fmt::format("at {:#x}", offset), std::move(attr).error()));
    }
    Section ids_section;
    ByteReader at(attrs.subspan(attr_size), order_);
    SectionLayout(at, ids_section);
    Event event{.attr = *attr, .format = FormatOf(*attr), .ids = {}, .name = {}};
    if (const std::optional<Bytes> ids = BytesOf(ids_section, file)) {
      const WordArray words(*ids, order_);
      event.ids.assign(words.begin(), words.end());
    } else {
      problems_.push_back(fmt::format("at {:#x}: the ids of event {} lie behind the file's end",
                                      offset + attr_size, events_.size()));
    }
    events_.Add(std::move(event));
    attrs = attrs.subspan(entry_size);
  }
  return {};
}

// The table has no pointer: it lies right behind the data, one { offset, size } for each set bit.
void Reader::ReadFeatureTable(Bytes file, std::span<const std::uint64_t> bitmap) {
  const std::uint64_t table = data_offset_ + data_size_;
  ByteReader at(file.subspan(table), order_);
  for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
    if ((bitmap[bit / 64] >> (bit % 64) & 1) == 0) continue;
    Section section;
    SectionLayout(at, section);
    const auto feature = static_cast<FeatureBit>(bit);
    const std::optional<Bytes> bytes = BytesOf(section, file);
    if (!at.ok() || !bytes) {
      problems_.push_back(
          fmt::format("feature {}: {} at {:#x}", FeatureName(feature),
                      at.ok() ? "lies behind the file's end" : "table ends before it",
                      at.ok() ? section.offset : table));
      continue;
    }
    features_.emplace(feature, *bytes);
  }
}

Status Reader::OpenPipe(Bytes file) {
  container_ = Container::kPipe;
  data_offset_ = kPipeHeaderSize;
  data_size_ = file.size() - kPipeHeaderSize;
  RecordCursor cursor = records();
  while (true) {
    // A torn end is the business of whoever reads the records.
    const Result<std::optional<RecordView>> record = cursor.Next();
    if (!record || !*record) return {};
    const RecordView& view = **record;
    if (view.type == RecordType::kHeaderAttr) {
      Result<EventAttr> attr = DecodeAttr(view.payload, order_);
      if (!attr) {
        return Fail(InContext(fmt::format("record at {:#x}: ATTR", view.file_offset),
                              std::move(attr).error()));
      }
      const WordArray ids(view.payload.subspan(attr->size), order_);
      events_.Add(Event{
          .attr = *attr, .format = FormatOf(*attr), .ids = {ids.begin(), ids.end()}, .name = {}});
    } else if (view.type == RecordType::kHeaderFeature) {
      const Result<HeaderFeature> feature = Decode<HeaderFeature>(view, SampleFormat{});
      if (feature && feature->bit < kFeatureBits && !feature->payload.empty()) {
        features_.emplace(static_cast<FeatureBit>(feature->bit), feature->payload);
      }
    } else if (view.type == RecordType::kEventUpdate) {
      const Result<EventUpdate> update = Decode<EventUpdate>(view, SampleFormat{});
      if (update && update->update_type == EventUpdate::kName) {
        ByteReader at(update->data, order_);
        at.Name(names_by_id_[update->id]);
      }
    }
  }
}

// The widest source wins: EVENT_UPDATE, then EVENT_DESC, then what the attribute says.
void Reader::NameEvents() {
  const std::optional<FeatureValue> value = DecodedFeature(FeatureBit::kEventDesc);
  const auto* description = value ? std::get_if<EventDesc>(&*value) : nullptr;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    event.name = DefaultEventName(event.attr);
    if (description != nullptr && i < description->events.size()) {
      event.name = description->events[i].name;
      for (const std::uint64_t id : description->events[i].ids) events_.AddId(i, id);
    }
    const auto rename_by = [&](std::uint64_t id) {
      if (const auto told = names_by_id_.find(id); told != names_by_id_.end()) {
        event.name = told->second;
      }
    };
    if (i == 0 && event.ids.empty()) rename_by(0);
    for (const std::uint64_t id : event.ids) rename_by(id);
  }
}

std::optional<Bytes> Reader::feature(FeatureBit bit) const {
  const auto found = features_.find(bit);
  if (found == features_.end()) return {};
  return found->second;
}

std::optional<FeatureValue> Reader::DecodedFeature(FeatureBit bit) const {
  const std::optional<Bytes> section = feature(bit);
  if (!section) return {};
  std::uint32_t cpus_available = 0;
  if (bit == FeatureBit::kCpuTopology) {
    const std::optional<FeatureValue> cpus = DecodedFeature(FeatureBit::kNrCpus);
    if (cpus) cpus_available = std::get<NrCpus>(*cpus).available;
  }
  Result<FeatureValue> value = DecodeFeature(bit, *section, order_, cpus_available);
  if (!value) return {};
  return *std::move(value);
}

std::string Reader::text(FeatureBit bit) const {
  const std::optional<FeatureValue> value = DecodedFeature(bit);
  const auto* feature = value ? std::get_if<TextFeature>(&*value) : nullptr;
  return feature == nullptr ? std::string() : feature->text;
}

RecordCursor Reader::records() const {
  return {file_.subspan(data_offset_, data_size_), data_offset_, order_};
}

}  // namespace perftape::perfdata
