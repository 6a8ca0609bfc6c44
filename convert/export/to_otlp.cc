// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_otlp.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "convert/export/otlp_dictionary.h"
#include "convert/export/otlp_resources.h"
#include "convert/export/otlp_series.h"
#include "convert/export/rank.h"
#include "convert/export/to_pprof.h"
#include "convert/model/label_keys.h"
#include "convert/model/otlp_roles.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/folded/count.h"
#include "formats/otlp/conventions.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

using otlp::AnyValue;
using otlp::Fixed64;
using otlp::Index;

// Clocks of recordings count from the start of the machine. A time above this one, of 2001, is of
// the wall clock.
constexpr std::int64_t kFirstWallTime = 1'000'000'000'000'000'000;

// A count is written as so many equal times at most.
constexpr std::int64_t kMostEqualTimes = 16;

// The bytes of an id in lower-case hexadecimal; nothing if the label has something else.
std::optional<std::string> IdOf(std::string_view hex, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (hex.size() != 2 * size) return std::nullopt;
  std::string id;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::size_t high = kDigits.find(hex[i]);
    const std::size_t low = kDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    id += static_cast<char>(high << 4 | low);
  }
  return id;
}

// A set of labels, as OTLP has it.
struct LabelParts {
  std::vector<Label> of_resource, of_sample;
  std::optional<std::int64_t> time_ns = {};
  std::optional<std::string> trace_id = {}, span_id = {};
};

// Samples with an equal key are one in the file. The members are ranks.
struct RowKey {
  std::uint32_t process = 0, resource = 0, event = 0;
  bool has_time = false;
  std::uint32_t stack = 0, thread = 0, labels = 0;
  auto operator<=>(const RowKey&) const = default;

  bool HasSameResource(const RowKey& other) const {
    return process == other.process && resource == other.resource;
  }
};

struct Row {
  RowKey key = {};
  std::int64_t time_ns = 0;
  std::uint32_t sample = 0;
  auto operator<=>(const Row&) const = default;
};

class OtlpExport {
 public:
  OtlpExport(const Profile& profile, const OtlpOptions& options, otlp::Encoding encoding)
      : profile_(profile),
        options_(options),
        ranks_(RankAll(profile)),
        writer_(encoding),
        dictionary_(profile, writer_) {}

  OtlpFile Run() && {
    FindClock();
    SplitLabels();
    MakeRows();
    series_ = OtlpSeriesOf(profile_, dictionary_);
    AddCommonFields();
    AddResources();
    OtlpReport report = {.lost_labels = dictionary_.lost_labels()};
    for (const EventId event : LossyEvents(profile_)) {
      report.rounded_events.emplace_back(profile_.text(profile_[event].name));
    }
    return {.bytes = std::move(writer_).Finish(), .report = std::move(report)};
  }

 private:
  bool IsTime(const Label& label) const {
    return label.text == StringId{} && profile_.text(label.key) == kTimestampLabel &&
           profile_.text(label.unit) == perfdata::kNanoseconds;
  }

  void FindClock();
  void SplitLabels();
  LabelParts PartsOf(std::span<const Label> labels) const;
  void MakeRows();
  void AddCommonFields();
  void AddResources();
  void AddResource(std::span<const Row> rows, bool is_first);
  void AddSeries(const OtlpSeries& series, std::span<const Row> rows);
  void AddSample(const OtlpSeries& series, std::span<const Row> rows);
  std::int64_t ValueOf(const OtlpSeries& series, const Sample& sample) const;
  void AddTimes(OtlpValues values, std::int64_t value, std::int64_t time_ns);
  void FinishTimes();
  const std::vector<Index>& AttributesOf(const Sample& sample);
  Index LinkOf(const LabelParts& parts);

  const Profile& profile_;
  const OtlpOptions& options_;
  const Ranks ranks_;
  otlp::Writer writer_;
  OtlpDictionary dictionary_;
  std::optional<std::int64_t> clock_offset_;  // nothing: times stay labels
  std::vector<LabelParts> labels_;            // by LabelsId
  std::vector<std::uint32_t> resource_ranks_, label_ranks_;
  std::vector<Row> rows_;
  std::vector<OtlpSeries> series_;

  otlp::Sample written_;
  std::vector<Index> attributes_;
};

// Without the time of the start, times of another clock than the wall clock are unknown.
void OtlpExport::FindClock() {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const std::span<const Label> set : profile_.labels()) {
    for (const Label& label : set) {
      if (IsTime(label)) first = std::min(first, label.number);
    }
  }
  if (first >= kFirstWallTime) {
    clock_offset_ = 0;
  } else if (profile_.metadata().start_time_ns && first >= 0) {
    clock_offset_ = SubtractUpToLimit(*profile_.metadata().start_time_ns, first);
    if (*clock_offset_ < 0) clock_offset_.reset();
  }
}

LabelParts OtlpExport::PartsOf(std::span<const Label> labels) const {
  LabelParts parts;
  for (const Label& label : labels) {
    const std::string_view key = profile_.text(label.key);
    if (!options_.thread_labels && (IsThreadLabel(key) || IsWokenLabel(key))) continue;
    if (clock_offset_ && !parts.time_ns && IsTime(label)) {
      parts.time_ns = AddUpToLimit(label.number, *clock_offset_);
    } else if (key == kTraceIdLabel && !parts.trace_id) {
      parts.trace_id = IdOf(profile_.text(label.text), 16);
      if (!parts.trace_id) parts.of_sample.push_back(label);
    } else if (key == kSpanIdLabel && !parts.span_id) {
      parts.span_id = IdOf(profile_.text(label.text), 8);
      if (!parts.span_id) parts.of_sample.push_back(label);
    } else {
      (IsOfOtlpResource(profile_, label) ? parts.of_resource : parts.of_sample).push_back(label);
    }
  }
  return parts;
}

void OtlpExport::SplitLabels() {
  std::vector<std::span<const Label>> of_resources, of_samples;
  for (const std::span<const Label> set : profile_.labels()) labels_.push_back(PartsOf(set));
  for (const LabelParts& parts : labels_) {
    of_resources.emplace_back(parts.of_resource);
    of_samples.emplace_back(parts.of_sample);
  }
  resource_ranks_ = RankLabels(of_resources, profile_);
  label_ranks_ = RankLabels(of_samples, profile_);
}

// The links are part of what samples are told apart by: the ranks of labels do not know them, so
// the rank of the whole set decides if there is one.
void OtlpExport::MakeRows() {
  const SampleRange range = options_.samples.value_or(
      SampleRange{0, static_cast<std::uint32_t>(profile_.samples().size())});
  rows_.reserve(range.size());
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const Sample& sample = profile_.samples()[i];
    const LabelParts& parts = labels_[sample.labels.index];
    const bool has_thread = options_.thread_labels && sample.thread != ThreadId{};
    const std::uint32_t pid = has_thread ? profile_[sample.thread].pid : kUnknownId;
    const bool has_link = parts.trace_id || parts.span_id;
    const std::uint32_t labels =
        has_link ? static_cast<std::uint32_t>(labels_.size()) + ranks_.labels[sample.labels.index]
                 : label_ranks_[sample.labels.index];
    rows_.push_back({.key = {.process = pid,
                             .resource = resource_ranks_[sample.labels.index],
                             .event = sample.event.index,
                             .has_time = parts.time_ns.has_value(),
                             .stack = ranks_.stacks[sample.stack.index],
                             .thread = has_thread ? ranks_.threads[sample.thread.index] : 0,
                             .labels = labels},
                     .time_ns = parts.time_ns.value_or(0),
                     .sample = i});
  }
  std::ranges::sort(rows_);
}

void OtlpExport::AddCommonFields() {
  const Metadata& metadata = profile_.metadata();
  std::vector<Index> attributes;
  const auto add_text = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) attributes.push_back(dictionary_.Attribute(key, {.text = text}));
  };
  if (!metadata.comments.empty()) {
    otlp::ArrayValue comments;
    for (const std::string& comment : metadata.comments)
      comments.values.push_back({.text = comment});
    attributes.push_back(dictionary_.Attribute(otlp::kComment, {.array = std::move(comments)}));
  }
  add_text(otlp::kDocUrl, metadata.doc_url);
  add_text(otlp::kDropFrames, metadata.drop_frames);
  add_text(otlp::kKeepFrames, metadata.keep_frames);
  if (clock_offset_.value_or(0) != 0) {
    attributes.push_back(dictionary_.Attribute(kOtlpClockOffset, {.integer = *clock_offset_}));
  }
  for (OtlpSeries& series : series_) {
    otlp::ProfileHeader& header = series.header;
    header.time_unix_ns.value =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, metadata.start_time_ns.value_or(0)));
    header.duration_ns =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, metadata.duration_ns));
    header.attributes.insert(header.attributes.end(), attributes.begin(), attributes.end());
  }
}

void OtlpExport::AddResources() {
  bool is_first = true;
  for (auto begin = rows_.begin(); is_first || begin != rows_.end(); is_first = false) {
    const auto end = std::ranges::find_if(
        begin, rows_.end(), [&](const Row& row) { return !row.key.HasSameResource(begin->key); });
    AddResource({begin, end}, is_first);
    begin = end;
  }
}

otlp::Scope ScopeOf(const Metadata& metadata) {
  otlp::Scope scope = {.name = kOtlpScopeName, .version = PERFTAPE_VERSION};
  const auto add = [&](std::string_view key, const AnyValue& value) {
    scope.attributes.push_back({.key = key, .value = value});
  };
  if (!metadata.default_value.empty()) {
    add(otlp::kDefaultSampleType, {.text = metadata.default_value});
  }
  if (metadata.period_type) {
    add(kOtlpPeriodType, {.text = metadata.period_type->name});
    add(kOtlpPeriodUnit, {.text = metadata.period_type->unit});
    add(kOtlpMetadataPeriod, {.integer = metadata.period});
  }
  return scope;
}

// The first resource has a profile of each event, so that events without samples and their order
// are kept.
void OtlpExport::AddResource(std::span<const Row> rows, bool is_first) {
  OtlpResources resources(profile_);
  const std::uint32_t pid = rows.empty() ? kUnknownId : rows.front().key.process;
  std::span<const Label> labels;
  if (!rows.empty()) {
    labels = labels_[profile_.samples()[rows.front().sample].labels.index].of_resource;
  }
  writer_.BeginResource(resources.Of(pid, labels), ScopeOf(profile_.metadata()));
  for (const OtlpSeries& series : series_) {
    const auto of_event = std::ranges::equal_range(rows, series.event.index, {},
                                                   [](const Row& row) { return row.key.event; });
    if (is_first || !of_event.empty()) AddSeries(series, of_event);
  }
}

void OtlpExport::AddSeries(const OtlpSeries& series, std::span<const Row> rows) {
  writer_.BeginProfile(series.header);
  while (!rows.empty()) {
    const auto end =
        std::ranges::find_if(rows, [&](const Row& row) { return row.key != rows.front().key; });
    const auto count = static_cast<std::size_t>(end - rows.begin());
    AddSample(series, rows.first(count));
    rows = rows.subspan(count);
  }
}

std::int64_t OtlpExport::ValueOf(const OtlpSeries& series, const Sample& sample) const {
  return series.values == OtlpValues::kSampleCounts ? sample.count : sample.period;
}

void OtlpExport::AddSample(const OtlpSeries& series, std::span<const Row> rows) {
  const Sample& first = profile_.samples()[rows.front().sample];
  const LabelParts& parts = labels_[first.labels.index];
  written_.values.clear();
  written_.times_unix_ns.clear();
  for (const Row& row : rows) {
    const Sample& sample = profile_.samples()[row.sample];
    const std::int64_t value = ValueOf(series, sample);
    // A sample of a number 0 is in the other profile of its event.
    const bool is_left_out = series.values != OtlpValues::kPlain && value == 0 &&
                             (series.values == OtlpValues::kPeriodSums || sample.period != 0);
    if (is_left_out) continue;
    if (parts.time_ns) {
      AddTimes(series.values, value, row.time_ns);
    } else if (written_.values.empty()) {
      written_.values.push_back(value);
    } else {
      written_.values.front() = AddUpToLimit(written_.values.front(), value);
    }
  }
  if (written_.values.empty()) return;
  FinishTimes();
  const std::uint8_t decimals = profile_[series.event].decimals;
  for (std::int64_t& value : written_.values) {
    if (decimals > 0) value = folded::RoundFixed(value, decimals);
  }
  written_.stack = dictionary_.StackOf(first.stack);
  written_.attributes = AttributesOf(first);
  written_.link = LinkOf(parts);
  writer_.Add(written_);
}

// A small count at a time is so many times.
void OtlpExport::AddTimes(OtlpValues values, std::int64_t value, std::int64_t time_ns) {
  const bool repeats = values == OtlpValues::kSampleCounts && value > 0 && value <= kMostEqualTimes;
  const Fixed64 time = {static_cast<std::uint64_t>(time_ns)};
  written_.values.insert(written_.values.end(), static_cast<std::size_t>(repeats ? value : 1),
                         repeats ? 1 : value);
  written_.times_unix_ns.resize(written_.values.size(), time);
}

// Times alone are values of 1.
void OtlpExport::FinishTimes() {
  const bool is_all_ones =
      std::ranges::all_of(written_.values, [](auto value) { return value == 1; });
  if (is_all_ones && !written_.times_unix_ns.empty()) written_.values.clear();
}

const std::vector<Index>& OtlpExport::AttributesOf(const Sample& sample) {
  attributes_.clear();
  const LabelParts& parts = labels_[sample.labels.index];
  const bool has_thread = options_.thread_labels && sample.thread != ThreadId{};
  if (has_thread) {
    const Thread& thread = profile_[sample.thread];
    if (thread.tid != kUnknownId) {
      attributes_.push_back(dictionary_.Attribute(
          otlp::kThreadId, {.integer = static_cast<std::int32_t>(thread.tid)}));
    }
    if (thread.comm != StringId{}) {
      attributes_.push_back(
          dictionary_.Attribute(otlp::kThreadName, {.text = profile_.text(thread.comm)}));
    }
  }
  dictionary_.AppendLabels(parts.of_sample, attributes_);
  return attributes_;
}

Index OtlpExport::LinkOf(const LabelParts& parts) {
  if (!parts.trace_id && !parts.span_id) return 0;
  return dictionary_.LinkOf(parts.trace_id.value_or(std::string(16, '\0')),
                            parts.span_id.value_or(std::string(8, '\0')));
}

}  // namespace

OtlpFile EncodeOtlp(const Profile& profile, const OtlpOptions& options, otlp::Encoding encoding) {
  return OtlpExport(profile, options, encoding).Run();
}

std::vector<std::string> LossLines(const OtlpReport& report) {
  std::vector<std::string> lines;
  for (const std::string& event : report.rounded_events) {
    lines.push_back(event + ": rounded, because OTLP has only whole numbers");
  }
  if (report.lost_labels != 0) {
    lines.push_back(std::to_string(report.lost_labels) +
                    " labels whose key occurs with several units");
  }
  return lines;
}

}  // namespace perftape::convert
