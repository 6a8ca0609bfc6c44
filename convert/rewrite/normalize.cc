// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/normalize.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "convert/rewrite/carry_bundle.h"
#include "convert/rewrite/new_features.h"
#include "convert/rewrite/record_check.h"
#include "formats/base/progress.h"
#include "formats/bundle/embedding.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/sample_completion.h"
#include "formats/perfdata/transcode.h"
#include "formats/perfdata/writer.h"

namespace perftape::rewrite {
namespace {

using perfdata::Container;
using perfdata::Event;
using perfdata::Reader;
using perfdata::RecordType;
using perfdata::RecordView;

bool IsName(const RecordView& record) {
  const auto update = perfdata::Decode<perfdata::EventUpdate>(record, {});
  return update && update->update_type == perfdata::EventUpdate::kName;
}

// Returns the attribute of an event whose samples have a callchain instead of copies of registers
// and stack.
perfdata::EventAttr WithoutStackCopies(perfdata::EventAttr attr) {
  constexpr std::uint64_t kCopies = perfdata::kRegsUser | perfdata::kStackUser;
  if ((attr.sample_type & kCopies) != kCopies) return attr;
  attr.sample_type = (attr.sample_type & ~kCopies) | perfdata::kCallchain;
  attr.sample_regs_user = 0;
  attr.sample_stack_user = 0;
  attr.flags &= ~std::uint64_t{perfdata::kExcludeCallchainUser};
  return attr;
}

// Returns whether samples are written completed. A copy of all records for every reader is not
// changed. A copy of some samples must not contain the callchains of the others.
bool CompletesSamples(const perfdata::EventTable& events, const NormalizeOptions& options) {
  const bool is_changed =
      options.reader != nullptr || options.kept_samples != nullptr || options.next_chain;
  return is_changed && perfdata::SampleCompletion::IsNeeded(events);
}

// Returns the events of the new file, in the same order.
perfdata::EventTable EventsFor(const perfdata::EventTable& events,
                               const NormalizeOptions& options) {
  perfdata::EventTable reduced;
  for (const Event& event : events.all()) {
    Event copy = event;
    if (CompletesSamples(events, options)) {
      copy.attr = perfdata::SampleCompletion::CompletedAttr(event);
    }
    if (options.next_chain) copy.attr = WithoutStackCopies(copy.attr);
    if (options.reader != nullptr) copy.attr = options.reader->Reduced(copy.attr);
    copy.format = FormatOf(copy.attr);
    reduced.Add(std::move(copy));
  }
  return reduced;
}

// Describes the input for FeaturesFor, which makes the features of the new file.
RecoveredLayout OutlineOf(const Reader& reader, const perfdata::EventTable& events) {
  RecoveredLayout layout;
  layout.order = reader.order();
  layout.container = reader.container();
  layout.file = reader.file();
  layout.events = events;
  layout.features = reader.features();
  return layout;
}

class Normalizer {
 public:
  Normalizer(const Reader& reader, const NormalizeOptions& options)
      : reader_(reader), options_(options), events_(EventsFor(reader.events(), options)) {
    first_event_.Add(reader.events()[0]);
    if (CompletesSamples(reader.events(), options)) completion_.emplace(reader);
  }

  Result<NormalizeReport> Run(const std::filesystem::path& output) && {
    // A pipe's features precede its records, but are made from them.
    if (ToPipe())
      TRY(ForEachRecord([this](const RecordView& record) { return GatherFrom(record); }));
    TRY_ASSIGN(perfdata::Writer writer, Open(output));
    writer_.emplace(std::move(writer));
    if (ToPipe()) TRY(AppendHead());
    TRY(ForEachRecord([this](const RecordView& record) { return CopyRecord(record); }));
    report_.problems.assign(reader_.problems().begin(), reader_.problems().end());
    std::vector<perfdata::Feature> features;
    if (!ToPipe()) features = Features();
    TRY_ASSIGN(report_.size, std::move(*writer_).Finish(features));
    TRY(CopyBundle(output));
    return std::move(report_);
  }

 private:
  bool ToPipe() const { return options_.container == Container::kPipe; }
  bool FromPipe() const { return reader_.container() == Container::kPipe; }

  // The bundle is copied whole, even if only some samples are kept.
  Status CopyBundle(const std::filesystem::path& output) {
    if (!ToPipe()) {
      TRY_ASSIGN(const std::uint64_t size, CarryBundle(reader_.file(), output));
      report_.size += size;
    } else if (bundle::FindEmbedded(reader_.file()).value_or(std::nullopt)) {
      report_.problems.emplace_back("its bundle is left out: a pipe cannot contain one");
    }
    return {};
  }

  Status ForEachRecord(const std::function<Status(const RecordView&)>& visit) {
    perfdata::RecordCursor cursor = reader_.records();
    AddWorkToProgress(reader_.data_size(), 1);
    ProgressMeter progress(reader_.data_offset(), samples_);
    while (true) {
      const Result<std::optional<RecordView>> record = cursor.Next();
      if (!record) {
        // Reported after all readable records were visited.
        report_.damage = record.error();
        return {};
      }
      if (!*record) return {};
      progress.MoveTo((*record)->file_offset, samples_);
      if (!IsCompressed((*record)->type)) TRY(visit(**record));
    }
  }

  Status GatherFrom(const RecordView& record) {
    if (record.type == RecordType::kHeaderTracingData && record.is_lasting) {
      GatherTracingData(record, gathered_);
    }
    Gather(record, reader_.events(), gathered_);
    return {};
  }

  Result<perfdata::Writer> Open(const std::filesystem::path& output) {
    const perfdata::WriterOptions options = {.old = OldFile::kReplace,
                                             .compression_level = options_.compression_level};
    if (!ToPipe()) return perfdata::Writer::Create(output, events_.all(), options);
    features_ = Features();
    const std::vector<perfdata::Feature> sent = FeaturesOfPipe(features_, report_.features);
    return perfdata::Writer::CreatePipe(output, events_.all(), sent, options);
  }

  // Writes the features that a pipe has as records of their own.
  Status AppendHead() {
    // The records of a pipe are copied.
    const std::vector<perfdata::Feature> added = {
        {perfdata::FeatureBit::kBuildId, perfdata::BuildIds{options_.build_ids}}};
    if (FromPipe() && options_.build_ids.empty()) return {};
    TRY_ASSIGN(const std::vector<std::byte> records,
               RecordsOfFeatures(FromPipe() ? added : features_));
    TRY(writer_->AppendPlain(records));
    return {};
  }

  std::vector<perfdata::Feature> Features() {
    std::vector<perfdata::Feature> features =
        FeaturesFor(OutlineOf(reader_, events_), gathered_, report_.features);
    if (!options_.build_ids.empty()) AddBuildIds(features);
    if (options_.reader == nullptr) return features;
    for (FeatureOutcome& outcome : report_.features) {
      if (options_.reader->Knows(outcome.bit)) continue;
      outcome = {outcome.bit, FeatureFate::kLeftOut, "its reader does not support it"};
    }
    std::erase_if(features, [this](const perfdata::Feature& feature) {
      return !options_.reader->Knows(feature.bit);
    });
    return features;
  }

  // Adds the build ids of the options to those of the features.
  void AddBuildIds(std::vector<perfdata::Feature>& features) const {
    using perfdata::FeatureBit;
    const auto at =
        std::ranges::lower_bound(features, FeatureBit::kBuildId, {}, &perfdata::Feature::bit);
    const bool has_ids = at != features.end() && at->bit == FeatureBit::kBuildId;
    perfdata::BuildIds all;
    const auto add = [&](const perfdata::FeatureValue& value) {
      if (const auto* ids = std::get_if<perfdata::BuildIds>(&value)) all = *ids;
    };
    if (has_ids) {
      add(at->value);
      const auto* const raw = std::get_if<perfdata::RawFeature>(&at->value);
      const auto decoded = raw == nullptr ? std::nullopt : Decoded(*raw);
      if (decoded) add(*decoded);
    }
    all.entries.insert(all.entries.end(), options_.build_ids.begin(), options_.build_ids.end());
    if (has_ids) {
      at->value = std::move(all);
    } else {
      features.insert(at, {FeatureBit::kBuildId, std::move(all)});
    }
  }

  static std::optional<perfdata::FeatureValue> Decoded(const perfdata::RawFeature& raw) {
    auto value = perfdata::DecodeFeature(perfdata::FeatureBit::kBuildId, raw.payload,
                                         std::endian::native, 0);
    return value ? std::optional(*std::move(value)) : std::nullopt;
  }

  // Returns whether the record's content is in the new file's header.
  bool IsMoved(const RecordView& record) const {
    switch (record.type) {
      case RecordType::kHeaderAttr:
      case RecordType::kHeaderFeature:
        // In a file these records have no effect, but in a pipe they would.
        return FromPipe() || ToPipe();
      case RecordType::kHeaderTracingData:
        return !(FromPipe() && ToPipe());
      case RecordType::kHeaderBuildId:
        return FromPipe() && !ToPipe();
      case RecordType::kEventUpdate:
        // The names of a pipe's events are in its header, those of a file in EVENT_DESC.
        return (FromPipe() || ToPipe()) && IsName(record);
      case RecordType::kFinishedRound:
        // The rounds of one file of a directory do not apply to all files together.
        return reader_.further_files() != 0;
      default:
        return false;
    }
  }

  Status CopyRecord(const RecordView& record) {
    if (!ToPipe()) TRY(GatherFrom(record));
    if (IsMoved(record)) {
      ++report_.moved[record.type];
      return {};
    }
    if (completion_ && record.type == RecordType::kCallchainDeferred) {
      ++report_.moved[record.type];
      return {};
    }
    if (options_.reader != nullptr && !options_.reader->Knows(record.type)) {
      ++report_.left_out[record.type];
      return {};
    }
    const bool is_sample = record.type == RecordType::kSample;
    const NewChain chain = is_sample && options_.next_chain ? options_.next_chain() : std::nullopt;
    const bool is_kept = !is_sample || IsKept();
    if (std::string damage = DamageOf(record); !damage.empty()) {
      Drop(record, std::move(damage));
      return {};
    }
    if (!is_kept) {
      ++report_.filtered_samples;
      return {};
    }
    record_.clear();
    Status transcoded = is_sample && (chain || completion_) ? EncodeNewSample(record, chain)
                                                            : TranscodeForItsEvent(record);
    if (!transcoded) {
      Drop(record, std::move(transcoded).error().message);
      return {};
    }
    ++report_.kept[record.type];
    return Append(record);
  }

  // Returns why a record cannot be read; empty if it can, or if its type is unknown. Records of
  // unknown events, except samples, have the format that all events share.
  std::string DamageOf(const RecordView& record) const {
    if (!perfdata::IsKnown(record.type)) return {};
    const bool takes_first =
        record.type != RecordType::kSample && reader_.events().EventOf(record) == nullptr;
    const RecordCheck judgement =
        CheckRecord(record, takes_first ? first_event_ : reader_.events());
    if (judgement.fit != Fit::kBroken) return {};
    return fmt::format("record at {}: {} of {} bytes: {}", PositionOf(record),
                       RecordName(record.type), record.size(), judgement.reason);
  }

  void Drop(const RecordView& record, std::string reason) {
    ++report_.lost[record.type];
    if (report_.dropped.size() == NormalizeReport::kMostDropped) return;
    RecordView header = record;
    header.payload = header.appended = {};
    report_.dropped.push_back(
        {.header = header, .size = record.size(), .reason = std::move(reason)});
  }

  // Returns whether the next sample is kept.
  bool IsKept() {
    const std::size_t index = samples_++;
    if (options_.kept_samples == nullptr) return true;
    return index < options_.kept_samples->size() && (*options_.kept_samples)[index];
  }

  Status TranscodeForItsEvent(const RecordView& record) {
    const Event* event = reader_.events().EventOf(record);
    if (event == nullptr) return Transcode(record, nullptr, nullptr, record_);
    return Transcode(record, &event->format, &NewFormatOf(*event), record_);
  }

  const perfdata::SampleFormat& NewFormatOf(const Event& event) const {
    return events_[reader_.events().IndexOf(event)].format;
  }

  // Encodes a sample whose values are not those in its record.
  Status EncodeNewSample(RecordView record, const NewChain& chain) {
    const Event* event = reader_.events().EventOf(record);
    if (event == nullptr) return TranscodeForItsEvent(record);
    TRY_ASSIGN(perfdata::Sample sample, perfdata::DecodeSample(record, event->format));
    if (completion_) completion_->Complete(record, *event, sample, completed_chain_);
    if (chain) sample.callchain = WordArray(*chain);
    return EncodeSampleFor(sample, event->format, NewFormatOf(*event), record.misc, record_);
  }

  // Bytes after a record in the file must not be inside a COMPRESSED record.
  Status Append(const RecordView& record) {
    if (record.appended.empty()) {
      TRY(writer_->Append(record_));
      return CommitBehind(record_.size());
    }
    TRY_ASSIGN(const std::uint64_t offset, writer_->AppendPlain(record_));
    if (record.type == RecordType::kAuxtrace) {
      gathered_.traces.push_back({.offset = offset, .size = record_.size()});
    }
    for (Bytes left = record.appended; !left.empty();) {
      const Bytes piece = left.first(std::min(left.size(), perfdata::kCommitSize));
      TRY(writer_->AppendPlain(piece));
      TRY(CommitBehind(piece.size()));
      left = left.subspan(piece.size());
    }
    return {};
  }

  Status CommitBehind(std::size_t size) {
    uncommitted_ += size;
    if (uncommitted_ < perfdata::kCommitSize) return {};
    uncommitted_ = 0;
    return writer_->Commit();
  }

  const Reader& reader_;
  const NormalizeOptions& options_;
  perfdata::EventTable events_;       // of the new file
  perfdata::EventTable first_event_;  // only the first event, of the old file
  Gathered gathered_;
  std::vector<perfdata::Feature> features_;  // of a pipe
  std::optional<perfdata::Writer> writer_;
  NormalizeReport report_;
  std::optional<perfdata::SampleCompletion> completion_;  // if samples are written completed
  std::vector<std::byte> completed_chain_;
  std::vector<std::byte> record_;
  std::size_t uncommitted_ = 0;
  std::size_t samples_ = 0;  // samples visited so far
};

}  // namespace

bool NormalizeReport::is_whole() const {
  const auto is_lost = [](const FeatureOutcome& feature) {
    return feature.fate == FeatureFate::kDropped || feature.fate == FeatureFate::kRebuilt;
  };
  return !damage && problems.empty() && lost.empty() && std::ranges::none_of(features, is_lost);
}

Result<NormalizeReport> Normalize(Input& input, const std::filesystem::path& output,
                                  const NormalizeOptions& options) {
  // A pipe's header comes first, but its content is known only at the end.
  if (input.is_stream()) TRY(input.All());
  Result<Reader> reader = Reader::Open(input);
  if (!reader) return Fail(InContext(input.name(), std::move(reader).error()));
  return Normalizer(*reader, options).Run(output);
}

}  // namespace perftape::rewrite
