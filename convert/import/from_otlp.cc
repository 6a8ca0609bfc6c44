// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_otlp.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/otlp_events.h"
#include "convert/import/otlp_tables.h"
#include "convert/import/time_window.h"
#include "convert/model/label_keys.h"
#include "convert/model/merge.h"
#include "convert/model/otlp_roles.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/file.h"
#include "formats/base/text.h"
#include "formats/base/utf8_text.h"
#include "formats/bundle/archive_reader.h"
#include "formats/bundle/expanded_input.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/json_reader.h"
#include "formats/otlp/message_files.h"
#include "formats/otlp/reader.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

using otlp::Fixed64;

std::string HexOf(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) AppendFormat(hex, "{:02x}", static_cast<unsigned char>(c));
  return hex;
}

bool IsZero(std::string_view id) {
  return id.find_first_not_of('\0') == std::string_view::npos;
}

// Attributes that say something about the profile as a whole, not about its samples.
bool IsOfProfile(std::string_view key) {
  return key == otlp::kComment || key == otlp::kDocUrl || key == otlp::kDropFrames ||
         key == otlp::kKeepFrames || key == kOtlpEvent || key == kOtlpUnit || key == kOtlpValues ||
         key == kOtlpPeriod || key == kOtlpClockOffset;
}

// The labels of a sample, and its thread.
struct SampleLabels {
  std::vector<Label> labels = {};
  std::optional<std::int64_t> pid = {}, tid = {};
  StringId comm = {};
};

class OtlpImport {
 public:
  OtlpImport(Bytes encoded, const DictionaryLimits& limits, const ImportOptions& options,
             ImportReport& report)
      : encoded_(encoded), limits_(limits), options_(options), report_(report) {}

  // `recording` has the times of the first and last samples of the file, if the message is a part
  // of it and ImportOptions::time is set.
  Result<Profile> Run(const std::optional<TimeWindow>& recording) {
    TRY_ASSIGN(OtlpTables tables, OtlpTables::Read(encoded_, limits_, builder_, report_));
    tables_ = &tables;
    TRY(ReadHeaders());
    if (recording) recording_ = recording;
    if (recording_) window_ = Resolve(*options_.time, *recording_);
    TRY(ReadSamples());
    builder_.SetMetadata(std::move(metadata_));
    return std::move(builder_).Finish();
  }

  // Returns the times of the first and last samples; nothing if no sample has a time. Needs
  // ImportOptions::time.
  Result<std::optional<TimeWindow>> ReadTimes() {
    TRY_ASSIGN(OtlpTables tables, OtlpTables::Read(encoded_, limits_, builder_, report_));
    tables_ = &tables;
    TRY(ReadHeaders());
    return recording_;
  }

 private:
  Status ReadHeaders();
  Status CheckHeader(const otlp::ProfileHeader& header, std::size_t index);
  void NoteTimes(const otlp::ProfileHeader& header);
  void NoteMetadata(const otlp::ProfileCursor& profile, const OtlpEvent& event);
  void NoteScope(const otlp::Scope& scope);
  void NoteLosses(const otlp::ProfileHeader& header);
  Status ReadSamples();
  Status BeginProfile(const otlp::ProfileCursor& profile);
  Status CountLabels(const SampleLabels& labels);
  void ReadClock(const otlp::ProfileHeader& header);
  void ReadResource(const otlp::Resource& resource);
  Status NoteSampleTimes(otlp::ProfileCursor& profiles);
  Status AddSample(const otlp::Sample& sample, std::size_t index);
  Status SetLabels(const otlp::Sample& sample, std::size_t index);
  void AddAttribute(const OtlpAttribute& attribute, SampleLabels& to);
  void AddLink(const OtlpLink& link, SampleLabels& to);
  void AddLabel(std::string_view key, std::string_view text, std::vector<Label>& labels);
  Status AddValue(std::int64_t value, std::optional<std::int64_t> time_ns, const OtlpStack& stack);
  std::int64_t ToLabelTime(Fixed64 time) const;
  ThreadId ThreadOf(const SampleLabels& labels);

  const Bytes encoded_;
  DictionaryLimits limits_;  // of labels: the number that may still be added
  const ImportOptions& options_;
  ImportReport& report_;
  ProfileBuilder builder_;
  OtlpTables* tables_ = nullptr;
  OtlpEvents events_;
  Metadata metadata_;
  std::optional<std::int64_t> end_ns_;
  std::optional<TimeWindow> recording_, window_;
  std::set<std::string, std::less<>> scope_losses_;
  std::size_t scope_number_ = 0;
  std::set<std::string_view> comments_;
  std::set<const OtlpAttribute*> read_comments_;

  // Of the current profile.
  std::size_t resource_number_ = 0;
  SampleLabels of_resource_, of_profile_;
  OtlpEvent event_;
  EventId event_id_ = {};
  std::int64_t clock_offset_ = 0;

  // Of the last sample, because the next one often has the same.
  std::optional<std::pair<std::vector<otlp::Index>, otlp::Index>> last_;
  SampleLabels of_sample_;
  ThreadId thread_ = {};
  LabelsId labels_ = {};
};

Status OtlpImport::CheckHeader(const otlp::ProfileHeader& header, std::size_t index) {
  if (!tables_->texts().ok()) return WrongEntry("profile", index, kNoSuchText);
  if (!tables_->HasAttributes(header.attributes)) {
    return WrongEntry("profile", index, "no such attribute");
  }
  return {};
}

// The first pass: the events, and what is known about the recording.
Status OtlpImport::ReadHeaders() {
  otlp::ProfileCursor profiles(encoded_);
  for (std::size_t index = 0;; ++index) {
    TRY_ASSIGN(const bool is_one, profiles.Next());
    if (!is_one) break;
    const OtlpEvent event = events_.Describe(profiles.header(), *tables_);
    TRY(CheckHeader(profiles.header(), index));
    events_.Note(event);
    NoteMetadata(profiles, event);
    if (!options_.time) continue;
    ReadClock(profiles.header());
    TRY(NoteSampleTimes(profiles));
  }
  if (metadata_.start_time_ns && end_ns_) {
    metadata_.duration_ns = SubtractUpToLimit(*end_ns_, *metadata_.start_time_ns);
  }
  return {};
}

void OtlpImport::NoteTimes(const otlp::ProfileHeader& header) {
  const std::int64_t start = ToSigned(header.time_unix_ns.value);
  const std::int64_t duration = ToSigned(header.duration_ns);
  if (start == 0) {
    metadata_.duration_ns = std::max(metadata_.duration_ns, duration);
    return;
  }
  metadata_.start_time_ns = std::min(start, metadata_.start_time_ns.value_or(start));
  const std::int64_t end = AddUpToLimit(start, duration);
  end_ns_ = std::max(end, end_ns_.value_or(end));
}

void OtlpImport::NoteLosses(const otlp::ProfileHeader& header) {
  if (header.original_payload.bytes.empty()) return;
  report_.notes.push_back("left out: the original payload (" +
                          std::string(header.original_payload_format) + ", " +
                          std::to_string(header.original_payload.bytes.size()) + " bytes)");
}

void OtlpImport::NoteMetadata(const otlp::ProfileCursor& profile, const OtlpEvent& event) {
  const otlp::ProfileHeader& header = profile.header();
  NoteTimes(header);
  NoteLosses(header);
  const auto set = [&](std::string_view key, std::string& text) {
    const OtlpAttribute* const attribute = tables_->FindByKey(header.attributes, key);
    if (attribute != nullptr && text.empty()) text = attribute->text;
  };
  set(otlp::kDocUrl, metadata_.doc_url);
  set(otlp::kDropFrames, metadata_.drop_frames);
  set(otlp::kKeepFrames, metadata_.keep_frames);
  // All profiles of a file usually have the same.
  const OtlpAttribute* const comments = tables_->FindByKey(header.attributes, otlp::kComment);
  if (comments != nullptr && read_comments_.insert(comments).second) {
    for (const std::string_view comment : comments->texts) {
      if (!comments_.contains(comment)) metadata_.comments.emplace_back(comment);
    }
    comments_.insert(comments->texts.begin(), comments->texts.end());
  }
  if (profile.scope_number() != scope_number_) NoteScope(profile.scope());
  scope_number_ = profile.scope_number();
  if (event.foreign_period_type && !metadata_.period_type &&
      profile.scope().name != kOtlpScopeName) {
    metadata_.period_type = event.foreign_period_type;
    metadata_.period = event.foreign_period;
  }
}

void OtlpImport::NoteScope(const otlp::Scope& scope) {
  for (const otlp::KeyValue& read : scope.attributes) {
    const OtlpAttribute attribute = tables_->ToAttribute(read);
    const auto period_type = [&]() -> ValueType& {
      if (!metadata_.period_type) metadata_.period_type.emplace();
      return *metadata_.period_type;
    };
    if (attribute.key == otlp::kDefaultSampleType) {
      metadata_.default_value = attribute.text;
    } else if (attribute.key == kOtlpPeriodType) {
      period_type().name = attribute.text;
    } else if (attribute.key == kOtlpPeriodUnit) {
      period_type().unit = attribute.text;
    } else if (attribute.key == kOtlpMetadataPeriod && attribute.is_number()) {
      metadata_.period = attribute.labels.front().number;
    } else if (scope_losses_.size() < kMostLosses && scope_losses_.emplace(attribute.key).second) {
      report_.notes.push_back("left out: the attribute " + std::string(attribute.key) +
                              " of a scope");
    }
  }
}

Status OtlpImport::NoteSampleTimes(otlp::ProfileCursor& profiles) {
  while (true) {
    TRY_ASSIGN(const otlp::Sample* const sample, profiles.NextSample());
    if (sample == nullptr) return {};
    for (const Fixed64 time : sample->times_unix_ns) {
      const std::int64_t time_ns = ToLabelTime(time);
      if (!recording_) recording_ = {.first = time_ns, .last = time_ns};
      recording_->first = std::min(recording_->first, time_ns);
      recording_->last = std::max(recording_->last, time_ns);
    }
  }
}

// The second pass.
Status OtlpImport::ReadSamples() {
  otlp::ProfileCursor profiles(encoded_);
  std::size_t index = 0;
  while (true) {
    TRY_ASSIGN(const bool is_one, profiles.Next());
    if (!is_one) return {};
    TRY(BeginProfile(profiles));
    for (;; ++index) {
      TRY_ASSIGN(const otlp::Sample* const sample, profiles.NextSample());
      if (sample == nullptr) break;
      TRY(AddSample(*sample, index));
    }
  }
}

void OtlpImport::ReadResource(const otlp::Resource& resource) {
  of_resource_ = {};
  std::vector<OtlpAttribute> attributes;
  std::set<std::string_view> derived;
  for (const otlp::KeyValue& read : resource.attributes) {
    attributes.push_back(tables_->ToAttribute(read));
    if (attributes.back().key != kOtlpDerived) continue;
    derived.insert(attributes.back().texts.begin(), attributes.back().texts.end());
  }
  for (const OtlpAttribute& attribute : attributes) {
    const bool is_derived = attribute.key == kOtlpDerived || derived.contains(attribute.key);
    if (!is_derived) AddAttribute(attribute, of_resource_);
  }
}

void OtlpImport::ReadClock(const otlp::ProfileHeader& header) {
  const OtlpAttribute* const offset = tables_->FindByKey(header.attributes, kOtlpClockOffset);
  clock_offset_ = offset != nullptr && offset->is_number() ? offset->labels.front().number : 0;
}

Status OtlpImport::BeginProfile(const otlp::ProfileCursor& profile) {
  const otlp::ProfileHeader& header = profile.header();
  if (profile.resource_number() != resource_number_) ReadResource(profile.resource());
  resource_number_ = profile.resource_number();
  of_profile_ = of_resource_;
  for (const otlp::Index index : header.attributes) {
    const OtlpAttribute* const attribute = tables_->FindAttribute(index);
    if (attribute != nullptr && !IsOfProfile(attribute->key)) {
      AddAttribute(*attribute, of_profile_);
    }
  }
  ReadClock(header);
  event_ = events_.Settled(events_.Describe(header, *tables_));
  const bool is_plain = event_.role == OtlpRole::kPlain;
  event_id_ = builder_.Add(Event{.name = builder_.Add(event_.name),
                                 .unit = builder_.Add(event_.unit),
                                 .values = is_plain ? EventValues::kPlain : EventValues::kSampled,
                                 .period = is_plain ? 0 : event_.period});
  last_.reset();
  return CountLabels(of_profile_);
}

// Each profile of a resource, and each sample of a profile, has copies of their labels.
Status OtlpImport::CountLabels(const SampleLabels& labels) {
  if (labels.labels.size() > limits_.labels) {
    return Fail(ErrorCode::kCorrupt, "more labels than a file of this size can contain");
  }
  limits_.labels -= labels.labels.size();
  return {};
}

void OtlpImport::AddLabel(std::string_view key, std::string_view text, std::vector<Label>& labels) {
  labels.push_back({.key = builder_.Add(key), .text = builder_.Add(text)});
}

void OtlpImport::AddAttribute(const OtlpAttribute& attribute, SampleLabels& to) {
  const std::string_view key = attribute.key;
  const auto is_id = [&] {
    return attribute.is_number() && attribute.labels.front().number ==
                                        static_cast<std::int32_t>(attribute.labels.front().number);
  };
  if (key == otlp::kProcessPid && is_id()) {
    to.pid = attribute.labels.front().number;
  } else if (key == otlp::kThreadId && is_id()) {
    to.tid = attribute.labels.front().number;
  } else if (key == otlp::kThreadName && !attribute.text.empty()) {
    to.comm = builder_.Add(attribute.text);
  } else if (key == otlp::kCpuNumber && attribute.is_number()) {
    to.labels.push_back({.key = builder_.Add(kCpuLabel),
                         .number = attribute.labels.front().number,
                         .unit = builder_.Add(kCpuLabel)});
  } else if (key == otlp::kCgroupPath && !attribute.text.empty()) {
    AddLabel(kCgroupLabel, attribute.text, to.labels);
  } else {
    to.labels.insert(to.labels.end(), attribute.labels.begin(), attribute.labels.end());
  }
}

void OtlpImport::AddLink(const OtlpLink& link, SampleLabels& to) {
  if (!IsZero(link.trace_id)) AddLabel(kTraceIdLabel, HexOf(link.trace_id), to.labels);
  if (!IsZero(link.span_id)) AddLabel(kSpanIdLabel, HexOf(link.span_id), to.labels);
}

ThreadId OtlpImport::ThreadOf(const SampleLabels& labels) {
  if (!labels.pid && !labels.tid && labels.comm == StringId{}) return {};
  return builder_.Add(
      Thread{.pid = labels.pid ? static_cast<std::uint32_t>(*labels.pid) : kUnknownId,
             .tid = labels.tid ? static_cast<std::uint32_t>(*labels.tid) : kUnknownId,
             .comm = labels.comm});
}

Status OtlpImport::SetLabels(const otlp::Sample& sample, std::size_t index) {
  if (last_ && last_->first == sample.attributes && last_->second == sample.link) return {};
  const OtlpLink* const link = tables_->FindLink(sample.link);
  if (link == nullptr) return WrongEntry("sample", index, "no such link");
  if (!tables_->HasAttributes(sample.attributes)) {
    return WrongEntry("sample", index, "no such attribute");
  }
  of_sample_ = of_profile_;
  for (const otlp::Index attribute : sample.attributes) {
    if (const OtlpAttribute* const found = tables_->FindAttribute(attribute)) {
      AddAttribute(*found, of_sample_);
    }
  }
  AddLink(*link, of_sample_);
  thread_ = ThreadOf(of_sample_);
  labels_ = builder_.Add(of_sample_.labels);
  last_ = {sample.attributes, sample.link};
  return CountLabels(of_sample_);
}

std::int64_t OtlpImport::ToLabelTime(Fixed64 time) const {
  return SubtractUpToLimit(ToSigned(time.value), clock_offset_);
}

Status OtlpImport::AddSample(const otlp::Sample& sample, std::size_t index) {
  if (sample.values.empty() && sample.times_unix_ns.empty()) {
    return WrongEntry("sample", index,
                      "neither values nor times. OTLP 1.9 and older, which are not supported, "
                      "number the fields of a sample differently");
  }
  const bool is_parallel = sample.values.size() == sample.times_unix_ns.size();
  if (!sample.values.empty() && !sample.times_unix_ns.empty() && !is_parallel) {
    return WrongEntry("sample", index, "the number of times differs from the number of values");
  }
  const OtlpStack* const stack = tables_->FindStack(sample.stack);
  if (stack == nullptr) return WrongEntry("sample", index, "no such stack");
  TRY(SetLabels(sample, index));
  const std::size_t count = std::max(sample.values.size(), sample.times_unix_ns.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<std::int64_t> time_ns;
    if (i < sample.times_unix_ns.size()) time_ns = ToLabelTime(sample.times_unix_ns[i]);
    TRY(AddValue(i < sample.values.size() ? sample.values[i] : 1, time_ns, *stack));
  }
  return {};
}

Status OtlpImport::AddValue(std::int64_t value, std::optional<std::int64_t> time_ns,
                            const OtlpStack& stack) {
  if (time_ns && window_ && !window_->Has(*time_ns)) {
    ++report_.outside_time;
    return {};
  }
  LabelsId labels = labels_;
  if (time_ns) {
    of_sample_.labels.push_back({.key = builder_.Add(kTimestampLabel),
                                 .number = *time_ns,
                                 .unit = builder_.Add(perfdata::kNanoseconds)});
    labels = builder_.Add(of_sample_.labels);
    TRY(CountLabels(of_sample_));
    of_sample_.labels.pop_back();
  }
  Sample added = events_.NumbersOf(event_, value);
  added.stack = stack.id;
  added.thread = thread_;
  added.event = event_id_;
  added.labels = labels;
  builder_.Add(added);
  // Sums of periods are of samples that are counted in another profile.
  if (event_.role == OtlpRole::kPeriodSums && added.count == 0) return {};
  ++report_.samples;
  report_.frames += stack.frames;
  report_.unmapped_frames += stack.unmapped;
  return {};
}

constexpr std::size_t kRecognizedBytes = 4096;  // to recognize a file

// A message of a file as protobuf, with the bytes that it is a view of.
struct OtlpMessage {
  std::optional<MappedFile> expanded = {};
  std::string encoded = {};
  Bytes bytes = {};
  DictionaryLimits limits = {};
};

Status Decode(Bytes message, OtlpMessage& decoded) {
  if (!bundle::CompressionOf(message).empty()) {
    TRY_ASSIGN(decoded.expanded, bundle::Expand(message, {}));
    message = decoded.expanded->bytes();
  }
  decoded.bytes = message;
  decoded.limits = LimitsOf(message);
  if (!otlp::LooksLikeProfilesJson(AsText(message))) return {};
  TRY_ASSIGN(decoded.encoded, otlp::EncodedOfJson(AsText(message)));
  decoded.bytes = AsBytes(decoded.encoded);
  return {};
}

// Calls `visit` with each message of a file. Sets `is_cut` if the end of the last one is missing.
template <class Visit>
Status ForEachMessage(Bytes file, otlp::Framing framing, bool& is_cut, const Visit& visit) {
  otlp::MessageCursor cursor(file, framing);
  while (const std::optional<Bytes> bytes = cursor.Next()) {
    OtlpMessage message;
    Status status = Decode(*bytes, message);
    if (status) status = visit(message);
    if (!status && cursor.offset() == 0) return status;
    if (!status) {
      return Fail(InContext(fmt::format("the message at 0x{:x}", cursor.offset()),
                            std::move(status).error()));
    }
  }
  is_cut = cursor.is_cut();
  return {};
}

void RemoveRepeated(std::vector<std::string>& lines) {
  std::set<std::string, std::less<>> known;
  std::erase_if(lines, [&](const std::string& line) { return !known.insert(line).second; });
}

Result<Profile> ReadMessages(Bytes file, otlp::Framing framing, const ImportOptions& options,
                             ImportReport& report) {
  bool is_cut = false;
  std::optional<TimeWindow> recording;
  if (options.time) {
    TRY(ForEachMessage(file, framing, is_cut, [&](const OtlpMessage& message) -> Status {
      ImportReport unused;
      TRY_ASSIGN(const std::optional<TimeWindow> times,
                 OtlpImport(message.bytes, message.limits, options, unused).ReadTimes());
      if (!times) return {};
      if (!recording) recording = times;
      recording->first = std::min(recording->first, times->first);
      recording->last = std::max(recording->last, times->last);
      return {};
    }));
  }
  Merger merger;
  TRY(ForEachMessage(file, framing, is_cut, [&](const OtlpMessage& message) -> Status {
    TRY_ASSIGN(const Profile profile,
               OtlpImport(message.bytes, message.limits, options, report).Run(recording));
    merger.Add(profile);
    return {};
  }));
  RemoveRepeated(report.notes);
  RemoveRepeated(report.problems);
  if (is_cut) report.problems.emplace_back("the last message is cut off and was left out");
  return std::move(merger).Finish();
}

}  // namespace

bool IsOtlp(const Input& input) {
  const Bytes first = input.first(kRecognizedBytes);
  const Utf8Text text(first);
  return otlp::FramingOf(BeginsWithMark(first) ? AsBytes(text.view()) : first).has_value();
}

Result<Profile> ReadOtlp(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(Bytes file, input.All());
  std::optional<Utf8Text> text;
  if (BeginsWithMark(file)) file = AsBytes(text.emplace(file).view());
  const auto framing = otlp::FramingOf(file.first(std::min(file.size(), kRecognizedBytes)));
  return ReadMessages(file, framing.value_or(otlp::Framing::kOne), options, report);
}

}  // namespace perftape::convert
