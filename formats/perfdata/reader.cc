// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "formats/base/joined_files.h"
#include "formats/base/regular_file.h"
#include "formats/perfdata/attr_table.h"

namespace perftape::perfdata {
namespace {

// The file that perf opens in a directory (tools/perf/util/data.c).
constexpr std::string_view kMainFile = "data";

// The N of "data.N".
std::optional<std::uint32_t> FileNumberOf(const std::string& filename) {
  constexpr std::string_view kPrefix = "data.";
  if (!filename.starts_with(kPrefix)) return {};
  std::uint32_t number = 0;
  const char* end = filename.data() + filename.size();
  const auto [rest, error] = std::from_chars(filename.data() + kPrefix.size(), end, number);
  if (error != std::errc() || rest != end) return {};
  return number;
}

// The numbers of data.0, data.1, … in a directory, sorted. perf numbers them without gaps and reads
// a directory with gaps (tools/perf/util/data.c, perf_data__open_dir).
Result<std::vector<std::uint32_t>> FurtherFiles(const std::filesystem::path& directory) {
  std::vector<std::uint32_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (const auto number = FileNumberOf(at->path().filename().native()))
      numbers.push_back(*number);
  }
  if (error) return FailErrno(directory.native(), error.value());
  std::ranges::sort(numbers);
  return numbers;
}

// Whether a record of this type ends the head of a stream: perf writes the records that describe
// events before it.
bool EndsStreamHead(RecordType type) {
  return type == RecordType::kSample || type == RecordType::kFinishedRound ||
         type == RecordType::kFinishedInit || IsCompressed(type);
}

}  // namespace

bool IsPerfData(const Input& input) {
  if (!input.is_directory()) return LooksLikePerfData(input.beginning());
  std::error_code ignored;
  return std::filesystem::is_regular_file(input.path() / kMainFile, ignored);
}

std::optional<std::filesystem::path> KallsymsOf(const Input& input) {
  if (!input.is_directory()) return {};
  std::filesystem::path kallsyms = input.path() / "kcore_dir" / "kallsyms";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(kallsyms, ignored)) return {};
  return kallsyms;
}

Result<Reader> Reader::Open(Input& input) {
  if (input.is_directory()) return OpenDirectory(input.path());
  if (input.is_stream()) return OpenStream(input);
  TRY_ASSIGN(const Bytes bytes, input.All());
  return FromBytes(bytes);
}

Result<Reader> Reader::FromBytes(Bytes file) {
  TRY_ASSIGN(const Preamble preamble, ReadPreamble(file));
  Reader reader;
  reader.file_ = file;
  reader.container_ = preamble.container;
  reader.version_ = preamble.version;
  reader.order_ = preamble.order;
  if (preamble.container == Container::kPipe) {
    reader.OpenPipe(file);
  } else {
    TRY(reader.OpenFile(file));
  }
  TRY(reader.FinishEvents());
  return reader;
}

Result<Reader> Reader::OpenDirectory(const std::filesystem::path& directory) {
  TRY_ASSIGN(MappedFile main, MapRegularFile(directory / kMainFile));
  Result<Reader> reader = FromBytes(main.bytes());
  if (!reader) return Fail(InContext(kMainFile, std::move(reader).error()));
  reader->main_ = std::move(main);
  TRY_ASSIGN(const std::vector<std::uint32_t> numbers, FurtherFiles(directory));
  for (const std::uint32_t number : numbers) {
    TRY_ASSIGN(MappedFile file,
               MapRegularFile(directory / fmt::format("{}.{}", kMainFile, number)));
    reader->further_.push_back({number, std::move(file)});
  }
  return reader;
}

Result<Reader> Reader::OpenStream(Input& stream) {
  TRY_ASSIGN(const Preamble preamble, ReadPreamble(stream.beginning()));
  if (preamble.container == Container::kPipe) {
    Reader reader;
    reader.container_ = Container::kPipe;
    reader.version_ = preamble.version;
    reader.order_ = preamble.order;
    reader.data_offset_ = FileHeader::kPipeSize;
    if (reader.ReadStreamHead(stream)) {
      reader.stream_ = &stream;
      TRY(reader.FinishEvents());
      return reader;
    }
  }
  TRY_ASSIGN(const Bytes bytes, stream.All());
  return FromBytes(bytes);
}

Status Reader::OpenFile(Bytes file) {
  TRY_ASSIGN(const FileHeader header, ReadFileHeader(file, order_, problems_));
  for (Event& event : ReadAttrTable(file, header, order_, problems_))
    events_->Add(std::move(event));

  data_offset_ = std::min<std::uint64_t>(header.data.offset, file.size());
  const std::uint64_t left = file.size() - data_offset_;
  data_size_ = std::min(header.data.size, left);
  if (data_size_ < header.data.size) {
    problems_.push_back(fmt::format(
        "at 0x28: the data of {} bytes at {:#x} extends {} bytes beyond the end of the file",
        header.data.size, header.data.offset, header.data.size - data_size_));
    return {};
  }
  const std::size_t problems_before = problems_.size();
  ReadFeatureTable(file, header.features);
  // perf writes the feature bits first and data.size last. If it was killed in between, the file
  // has records at the offset at which the bits promise a feature table.
  const bool has_table = !features_.empty() && problems_.size() == problems_before;
  if (header.data.size == 0 && left > 0 && !has_table) {
    features_.clear();
    problems_.resize(problems_before);
    problems_.push_back(
        fmt::format("at 0x30: data size is 0: the recording was not completed; the "
                    "{} bytes up to the end of the file are read as records",
                    left));
    data_size_ = left;
  }
  const std::uint64_t end = EndOfSections();
  if (LooksLikePerfData(file.subspan(end))) {
    problems_.push_back(fmt::format("at {:#x}: {}", end, kJoinedFiles));
  }
  return {};
}

// The end of the data and of all features, which perf writes one after another.
std::uint64_t Reader::EndOfSections() const {
  std::uint64_t end = data_offset_ + data_size_;
  for (const auto& [bit, bytes] : features_) {
    end = std::max<std::uint64_t>(end, bytes.data() - file_.data() + bytes.size());
  }
  return end;
}

// No field points to the table. It begins at the end of the data and has one { offset, size } for
// each set bit.
void Reader::ReadFeatureTable(Bytes file, std::span<const std::uint64_t> bitmap) {
  const std::uint64_t table = data_offset_ + data_size_;
  ByteReader at(file.subspan(table), order_);
  for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
    if ((bitmap[bit / 64] >> (bit % 64) & 1) == 0) continue;
    Section section;
    SectionLayout(at, section);
    const auto feature = static_cast<FeatureBit>(bit);
    // perf never reads this entry. In perftape's compressed files it is not an entry, but part of a
    // record (TableInARecord).
    if (feature == FeatureBit::kReserved && at.ok()) continue;
    const std::optional<Bytes> bytes = BytesOf(section, file);
    if (!at.ok() || !bytes) {
      problems_.push_back(
          at.ok()
              ? fmt::format("feature {}: its section at {:#x} extends beyond the end of the file",
                            FeatureName(feature), section.offset)
              : fmt::format("feature {}: the feature table at {:#x} ends before its entry",
                            FeatureName(feature), table));
      continue;
    }
    features_.emplace(feature, *bytes);
  }
}

void Reader::OpenPipe(Bytes file) {
  data_offset_ = FileHeader::kPipeSize;
  data_size_ = file.size() - FileHeader::kPipeSize;
  RecordCursor cursor = records(Compressed::kStepOver);
  while (true) {
    const Result<std::optional<RecordView>> record = cursor.Next();
    // The reader of the records reports an incomplete last record. Here it is an error only if no
    // event was found.
    if (!record && events_->size() == 0) problems_.push_back(record.error().message);
    if (!record || !*record) return;
    AddPipeRecord(**record);
  }
}

// Reads the records before the first sample, without consuming them. False if they describe no
// event.
bool Reader::ReadStreamHead(Input& stream) {
  constexpr std::size_t kOneRecord = std::size_t{64} << 10;
  std::size_t at = FileHeader::kPipeSize;
  std::size_t wanted = kOneRecord;
  while (true) {
    const Bytes window = stream.Window(at, wanted);
    RecordCursor cursor(window, at, order_, Compressed::kStepOver);
    const Result<std::optional<RecordView>> next = cursor.Next();
    if (!next || !*next) {
      if (window.size() < wanted || wanted > RecordCursor::kMostAppendedInStream) {
        return events_->size() > 0;
      }
      wanted *= 2;  // TRACING_DATA can be followed by many bytes
      continue;
    }
    const RecordView& record = **next;
    if (EndsStreamHead(record.type)) return events_->size() > 0;
    AddPipeRecord(record);
    at += record.size() + record.appended.size();
    wanted = kOneRecord;
  }
}

void Reader::AddPipeRecord(const RecordView& record) {
  if (record.type == RecordType::kHeaderAttr) {
    const Result<EventAttr> attr = DecodeAttr(record.payload, order_);
    if (!attr) {
      problems_.push_back(
          fmt::format("record at {}: ATTR: {}", PositionOf(record), attr.error().message));
      return;
    }
    const WordArray ids(record.payload.subspan(attr->size), order_);
    events_->Add(Event{
        .attr = *attr, .format = FormatOf(*attr), .ids = {ids.begin(), ids.end()}, .name = {}});
  } else if (record.type == RecordType::kHeaderFeature) {
    const Result<HeaderFeature> feature = Decode<HeaderFeature>(record, SampleFormat{});
    if (!feature || feature->bit >= kFeatureBits || feature->payload.empty()) return;
    Bytes payload = feature->payload;
    if (file_.empty()) {
      feature_copies_.emplace_back(payload.begin(), payload.end());
      payload = feature_copies_.back();
    }
    features_.emplace(static_cast<FeatureBit>(feature->bit), payload);
  } else if (record.type == RecordType::kEventUpdate) {
    const Result<EventUpdate> update = Decode<EventUpdate>(record, SampleFormat{});
    if (update && update->update_type == EventUpdate::kName) {
      names_by_id_[update->id] = update->text;
    }
  } else if (record.type == RecordType::kHeaderTracingData) {
    tracepoints_ = ReadTracepoints(TracingDataIn(record));
  }
}

// If no attribute can be read, adds the events of EVENT_DESC, which repeats the attributes.
Status Reader::FinishEvents() {
  if (events_->size() == 0) {
    const std::optional<FeatureValue> value = DecodedFeature(FeatureBit::kEventDesc);
    if (const auto* description = value ? std::get_if<EventDesc>(&*value) : nullptr) {
      for (const Event& event : description->events) events_->Add(event);
    }
    // The offset of header.attrs, or of the first record of a stream.
    const std::uint64_t offset = container_ == Container::kPipe ? FileHeader::kPipeSize : 0x18;
    if (events_->size() == 0) {
      return Fail(
          ErrorCode::kCorrupt,
          fmt::format("no event found: {}",
                      problems_.empty() ? fmt::format("at {:#x}: no attribute found", offset)
                                        : problems_.front()));
    }
    problems_.push_back(fmt::format(
        "at {:#x}: no attribute found; the events are read from the feature EVENT_DESC", offset));
  }
  NameEvents();
  return {};
}

// simpleperf begins the records of a file with the formats of tracepoints, and has no section for
// them (record_file_writer.cpp).
void Reader::ReadFirstRecord() {
  RecordCursor cursor = records(Compressed::kStepOver);
  const Result<std::optional<RecordView>> first = cursor.Next();
  if (!first || !*first) return;
  if (const Bytes formats = TracingDataIn(**first); !formats.empty()) {
    tracepoints_ = ReadTracepoints(formats);
  }
}

// Sets the name of each event from the first source that has one: EVENT_UPDATE, EVENT_DESC,
// TRACING_DATA, the attribute itself. Also adds the ids of EVENT_DESC and the formats of
// tracepoints.
void Reader::NameEvents() {
  if (const std::optional<Bytes> section = feature(FeatureBit::kTracingData)) {
    tracepoints_ = ReadTracepoints(*section);
  } else if (container_ == Container::kFile) {
    ReadFirstRecord();
  }
  const std::optional<FeatureValue> value = DecodedFeature(FeatureBit::kEventDesc);
  const auto* description = value ? std::get_if<EventDesc>(&*value) : nullptr;
  for (std::size_t i = 0; i < events_->size(); ++i) {
    Event& event = (*events_)[i];
    event.name = DefaultEventName(event.attr);
    const auto tracepoint = tracepoints_.find(event.attr.config);
    if (event.attr.type == kTypeTracepoint && tracepoint != tracepoints_.end()) {
      event.tracepoint = tracepoint->second;
      event.name = event.tracepoint->name;
    }
    if (description != nullptr && i < description->events.size()) {
      event.name = description->events[i].name;
      for (const std::uint64_t id : description->events[i].ids) events_->AddId(i, id);
    }
    const auto rename_by = [&](std::uint64_t id) {
      if (const auto found = names_by_id_.find(id); found != names_by_id_.end()) {
        event.name = found->second;
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

RecordCursor Reader::records(Compressed compressed) const {
  if (stream_ != nullptr) {
    stream_->Consume(FileHeader::kPipeSize);
    return {*stream_, FileHeader::kPipeSize, order_, events_};
  }
  std::vector<RecordCursor::Part> parts = {{file_.subspan(data_offset_, data_size_), data_offset_}};
  for (const auto& [number, file] : further_) parts.push_back({file.bytes(), 0, number + 1});
  return {std::move(parts), order_, compressed, events_};
}

RecordCursor Reader::records_from(std::uint64_t file_offset) const {
  const Bytes records = file_.subspan(data_offset_, data_size_);
  return {{{records.subspan(file_offset - data_offset_), file_offset}},
          order_,
          Compressed::kExpand,
          events_};
}

}  // namespace perftape::perfdata
