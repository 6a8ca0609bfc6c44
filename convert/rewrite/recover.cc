// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/recover.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "convert/rewrite/carry_bundle.h"
#include "convert/rewrite/new_features.h"
#include "convert/rewrite/reader_limits.h"
#include "formats/bundle/embedding.h"
#include "formats/perfdata/transcode.h"
#include "formats/perfdata/writer.h"

namespace perftape::rewrite {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

// Copies the records that a walk finds, and collects the content of features.
class Copier {
 public:
  Copier(const RecoveredLayout& layout, perfdata::Writer writer, RecoverReport& report)
      : layout_(layout), writer_(std::move(writer)), report_(report), at_(writer_.size()) {
    // In a file such records would describe the events a second time.
    has_head_ = layout.container == perfdata::Container::kPipe ||
                layout.attributes_from == AttributesFrom::kRecords;
  }

  Status Copy() {
    const RecordVisitor visitor = {
        .record = [this](const FoundRecord& found) { return CopyRecord(found); },
        .dropped = [this](const Stretch& stretch) { Count(stretch); },
        .guessed = [this](const std::string& guess) { Count(guess); }};
    RecordWalk walk(layout_.events, layout_.order, visitor);
    return walk.Run(layout_.stream, layout_.stream_offset);
  }

  void Count(const Stretch& stretch) {
    if (report_.dropped.size() < RecoverReport::kMostStretches) report_.dropped.push_back(stretch);
    ++report_.stretches;
    report_.dropped_bytes += stretch.size;
  }

  void Count(const std::string& guess) {
    if (report_.corrections.size() < RecoverReport::kMostStretches)
      report_.corrections.push_back(guess);
  }

  Status Finish() && {
    gathered_.lost_records = report_.stretches != 0 || !report_.corrections.empty();
    const auto features = FeaturesFor(layout_, gathered_, report_.features);
    TRY(std::move(writer_).Finish(features));
    return {};
  }

 private:
  Result<Onward> CopyRecord(const FoundRecord& found) {
    const RecordType type = found.view.type;
    // Expanded bytes are not lasting.
    if (type == RecordType::kHeaderTracingData && !found.position.is_inside) {
      GatherTracingData(found.view, gathered_);
    }
    if (IsMoved(type)) {
      ++report_.moved[type];
      return Onward::kGoOn;
    }
    if (!reader_.Knows(type) || !Transcoded(found.view)) {
      ++report_.left_out[type];
      report_.first_left_out.try_emplace(type, found.position);
      return Onward::kGoOn;
    }
    if (type == RecordType::kAuxtrace) {
      gathered_.traces.push_back({.offset = at_, .size = record_.size()});
    }
    Gather(found.view, layout_.events, gathered_);
    ++report_.kept[type];
    if (found.view.excess > 0) ++report_.resized_records;
    TRY(Append(record_));
    TRY(Append(found.view.appended));
    return Onward::kGoOn;
  }

  // Converts a record into record_, in native order. Returns false if its order is the other one
  // and its fields are unknown.
  bool Transcoded(const RecordView& view) {
    const perfdata::Event* event = layout_.events.EventOf(view);
    record_.clear();
    return Transcode(view, event == nullptr ? nullptr : &event->format, {}, record_).has_value();
  }

  // Returns whether the record's content is in the new file's header.
  bool IsMoved(RecordType type) const {
    if (type == RecordType::kHeaderTracingData) return true;
    return has_head_ && (type == RecordType::kHeaderAttr || type == RecordType::kHeaderFeature);
  }

  // In pieces, so that a trace of gigabytes needs no more memory than a sample.
  Status Append(Bytes bytes) {
    while (!bytes.empty()) {
      const Bytes piece = bytes.first(std::min(bytes.size(), perfdata::kCommitSize));
      TRY(writer_.Append(piece));
      at_ += piece.size();
      uncommitted_ += piece.size();
      bytes = bytes.subspan(piece.size());
      if (uncommitted_ < perfdata::kCommitSize) continue;
      TRY(writer_.Commit());
      uncommitted_ = 0;
    }
    return {};
  }

  // The oldest supported version of perf. It rejects a file with a record type that it does not
  // support.
  const ReaderLimits& reader_ = AllReaderLimits().front();
  const RecoveredLayout& layout_;
  perfdata::Writer writer_;
  RecoverReport& report_;
  Gathered gathered_;
  bool has_head_ = false;
  std::vector<std::byte> record_;  // as it is written
  std::uint64_t at_;               // offset of the next record in the new file
  std::size_t uncommitted_ = 0;
};

std::unexpected<Error> NothingLeft(const RecoveredLayout& layout, const RecoverReport& report) {
  std::string why = fmt::format("at {:#x}: no record begins here", layout.stream_offset);
  if (!report.corrections.empty()) {
    why = report.corrections.front();
  } else if (!report.dropped.empty()) {
    why = fmt::format("at {}: {}", TextOf(report.dropped.front().position),
                      report.dropped.front().reason);
  }
  return Fail(ErrorCode::kCorrupt, why + "; no record could be recovered");
}

bool IsPadding(Bytes bytes) {
  return bytes.size() < sizeof(std::uint64_t) ||
         std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

bool RecoverReport::is_whole() const {
  const auto is_lost = [](const FeatureOutcome& feature) {
    return feature.fate == FeatureFate::kDropped || feature.fate == FeatureFate::kRebuilt;
  };
  return corrections.empty() && stretches == 0 && left_out.empty() &&
         std::ranges::none_of(features, is_lost);
}

Result<RecoverReport> Recover(Bytes whole, const std::filesystem::path& output) {
  const Bytes file = bundle::WithoutEmbedded(whole);
  TRY_ASSIGN(const RecoveredLayout layout, RecoverLayout(file));
  RecoverReport report;
  report.container = layout.container;
  report.events = layout.events.size();
  report.attributes_from = layout.attributes_from;
  report.corrections = layout.corrections;

  TRY_ASSIGN(perfdata::Writer writer,
             perfdata::Writer::Create(output, layout.events.all(), {.old = OldFile::kReplace}));
  Copier copier(layout, std::move(writer), report);
  TRY(copier.Copy());
  if (!IsPadding(file.subspan(layout.unclaimed_from))) {
    copier.Count({.position = {.offset = layout.unclaimed_from},
                  .size = file.size() - layout.unclaimed_from,
                  .reason = "after the last section that the header describes"});
  }
  if (report.records() == 0 && !(report.stretches == 0 && report.corrections.empty())) {
    return NothingLeft(layout, report);
  }
  TRY(std::move(copier).Finish());
  TRY(CarryBundle(whole, output));
  return report;
}

}  // namespace perftape::rewrite
