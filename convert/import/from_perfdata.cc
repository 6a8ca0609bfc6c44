// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_perfdata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "convert/import/converted.h"
#include "convert/import/process_history.h"
#include "convert/import/sample_table.h"
#include "convert/import/stack_resolver.h"
#include "convert/import/survey.h"
#include "convert/import/turn_clock.h"
#include "convert/model/profile_builder.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"

namespace perftape {
namespace {

using perfdata::FeatureBit;
using perfdata::RecordType;
using perfdata::RecordView;

// The second pass: puts the samples into a table.
class SampleReader {
 public:
  SampleReader(const perfdata::Reader& reader, const ImportOptions& options, Survey& survey,
               ImportReport& report)
      : reader_(reader),
        options_(options),
        survey_(survey),
        report_(report),
        deliveries_(reader.events()) {
    if (options.time) span_ = SpanOf(*options.time, survey.times);
  }

  void Run();

  const SampleTable& table() const { return table_; }
  SampleTable& table() { return table_; }
  const TimeSpan& times() const { return times_; }  // of the samples that are in the table

 private:
  // The state of a thread that had a sample lately.
  struct Recent {
    std::uint32_t pid = 0, tid = 0;
    ThreadState state;
    std::uint32_t thread = 0;  // in the table
  };
  static constexpr std::size_t kRecent = 256;

  bool NeedsTimeOrder() const;
  void RunInFileOrder();
  void RunInTimeOrder();
  void Take(const RecordView& record, const perfdata::Event* event, Moment moment);
  const Recent& StateOf(std::uint32_t pid, std::uint32_t tid, Moment moment);
  std::uint32_t KindOf(const perfdata::Sample& sample, const perfdata::SampleFormat& format,
                       const perfdata::Event& event);
  void Skip(const RecordView& sample);

  const perfdata::Reader& reader_;
  const ImportOptions& options_;
  Survey& survey_;
  ImportReport& report_;
  perfdata::Deliveries deliveries_;
  std::optional<TimeSpan> span_;
  SampleTable table_;
  TimeSpan times_;
  std::array<Recent, kRecent> recent_ = {};
};

// Counters grow from one reading to the next.
bool SampleReader::NeedsTimeOrder() const {
  return std::ranges::any_of(reader_.events().all(), [](const perfdata::Event& event) {
    return event.format.Has(perfdata::kRead);
  });
}

void SampleReader::Run() {
  if (NeedsTimeOrder()) {
    RunInTimeOrder();
  } else {
    RunInFileOrder();
  }
}

void SampleReader::RunInFileOrder() {
  TurnClock clock;
  perfdata::EventLookup lookup(reader_.events());
  perfdata::RecordCursor cursor = reader_.records();
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const Turn turn = clock.Of(record, found.time);
    if (record.type != RecordType::kSample) continue;
    Take(record, found.event, survey_.history.MomentOf(turn));
  }
}

void SampleReader::RunInTimeOrder() {
  Moment moment = 0;
  perfdata::InTimeOrder cursor(reader_.records(), reader_.events());
  while (cursor.Step()) {
    if (cursor.record().type == RecordType::kSample) {
      Take(cursor.record(), cursor.event(), moment);
    } else if (ProcessHistory::Takes(cursor.record().type)) {
      ++moment;
    }
  }
}

void SampleReader::Take(const RecordView& record, const perfdata::Event* event, Moment moment) {
  if (event == nullptr) {
    Skip(record);
    ++report_.unknown_events;
    return;
  }
  const Result<perfdata::Sample> sample = perfdata::DecodeSample(record, event->format);
  if (!sample) {
    Skip(record);
    ++report_.damaged_records;
    return;
  }
  const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(*sample, *event);
  if (sample->time != 0) {
    if (span_ && !span_->Contains(sample->time)) {
      report_.outside_time += deliveries.size();
      return;
    }
    times_.Add(sample->time);
  }
  if (deliveries.empty()) return;
  const Recent& state = StateOf(sample->pid, sample->tid, moment);
  const RawStack stack{
      .ip = sample->ip,
      .chain = sample->callchain.bytes(),
      .branches = perfdata::HasBranchCallStack(event->format) ? sample->branches.bytes() : Bytes(),
      .pid = sample->pid,
      .moment = moment,
      .mode = record.cpumode()};
  const SampleTable::StackHash hash = SampleTable::HashOf(stack, state.state);
  const auto lifetime =
      record.is_lasting ? SampleTable::Lifetime::kLasting : SampleTable::Lifetime::kShort;
  for (const perfdata::Delivery& delivery : deliveries) {
    ++report_.samples;
    table_.Add(hash, stack, lifetime, state.thread, KindOf(*sample, event->format, *delivery.event),
               delivery.period);
  }
}

const SampleReader::Recent& SampleReader::StateOf(std::uint32_t pid, std::uint32_t tid,
                                                  Moment moment) {
  Recent& recent = recent_[tid % kRecent];
  if (recent.pid != pid || recent.tid != tid || moment < recent.state.from ||
      moment >= recent.state.to) {
    const ThreadState state = survey_.history.StateOf(pid, tid, moment);
    recent = {.pid = pid,
              .tid = tid,
              .state = state,
              .thread = table_.Add(RawThread{.pid = pid, .tid = tid, .comm = state.comm})};
  }
  return recent;
}

std::uint32_t SampleReader::KindOf(const perfdata::Sample& sample,
                                   const perfdata::SampleFormat& format,
                                   const perfdata::Event& event) {
  RawKind kind{.event = static_cast<std::uint32_t>(reader_.events().IndexOf(event))};
  if (options_.cpu_label && format.Has(perfdata::kCpu)) kind.cpu = sample.cpu;
  if (options_.cgroup_label && format.Has(perfdata::kSampleCgroup)) kind.cgroup = sample.cgroup;
  return table_.Add(kind);
}

void SampleReader::Skip(const RecordView& sample) {
  if (report_.skipped_samples++ == 0) report_.first_skipped = perfdata::PlaceOf(sample);
}

Event EventOf(const perfdata::Event& event, const UnitsById& units, ProfileBuilder& builder) {
  const perfdata::EventAttr& attr = event.attr;
  const bool is_clock =
      attr.type == perfdata::kTypeSoftware &&
      (attr.config == perfdata::kSoftwareCpuClock || attr.config == perfdata::kSoftwareTaskClock);
  std::uint64_t period = attr.Has(perfdata::kFreq) ? 0 : attr.sample_period;
  // The kernel turns a clock's frequency into a fixed period (perf_swevent_init_hrtimer).
  if (is_clock && attr.Has(perfdata::kFreq) && attr.sample_period > 0) {
    period = 1'000'000'000 / attr.sample_period;
  }
  Event made{.name = builder.Add(event.name),
             .unit = builder.Add(is_clock ? "nanoseconds" : "count"),
             .period = period};
  ApplyMark(event, units, builder, made);
  return made;
}

// Turns a table of samples into a profile.
class ProfileMaker {
 public:
  ProfileMaker(const perfdata::Reader& reader, const Survey& survey, const SampleTable& table)
      : reader_(reader),
        survey_(survey),
        table_(table),
        is_converted_(IsConverted(reader.events())) {}

  Profile Make(Metadata metadata, ImportReport& report) &&;

 private:
  std::vector<StackResolver::Answer> ResolveStacks();
  std::vector<EventId> AddEvents();
  std::string CommOf(const RawThread& thread) const;
  std::vector<ThreadId> AddThreads();
  LabelsId AddLabels(const RawKind& kind);

  const perfdata::Reader& reader_;
  const Survey& survey_;
  const SampleTable& table_;
  const bool is_converted_;
  ProfileBuilder builder_;
};

// In the order of their moments: processes go forth only.
std::vector<StackResolver::Answer> ProfileMaker::ResolveStacks() {
  const std::span<const RawStack> stacks = table_.stacks();
  std::vector<std::uint32_t> order(stacks.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return stacks[i].moment; });

  std::vector<StackResolver::Answer> answers(stacks.size());
  using Origin = StackResolver::Origin;
  StackResolver resolver(reader_.order(), is_converted_ ? Origin::kConverted : Origin::kRecorded,
                         survey_.build_ids, builder_);
  ProcessHistory::Replay replay(survey_.history);
  for (const std::uint32_t i : order) {
    answers[i] = resolver.Resolve(stacks[i], replay.At(stacks[i].moment));
  }
  return answers;
}

// In the file's order those that have samples; all, if none has, or the file is no recording.
std::vector<EventId> ProfileMaker::AddEvents() {
  const std::span<const perfdata::Event> events = reader_.events().all();
  std::vector<bool> has_samples(events.size(), table_.rows().empty() || is_converted_);
  for (const RawKind& kind : table_.kinds()) has_samples[kind.event] = true;
  std::vector<EventId> ids(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (has_samples[i]) ids[i] = builder_.Add(EventOf(events[i], survey_.units, builder_));
  }
  return ids;
}

std::string ProfileMaker::CommOf(const RawThread& thread) const {
  if (is_converted_) return thread.comm == nullptr ? "" : *thread.comm;
  if (thread.tid == 0) return "swapper";
  if (thread.comm != nullptr) return *thread.comm;
  return fmt::format(":{}", static_cast<std::int32_t>(thread.tid));
}

std::vector<ThreadId> ProfileMaker::AddThreads() {
  std::vector<ThreadId> ids;
  for (const RawThread& thread : table_.threads()) {
    if (is_converted_ && thread.tid == perfdata::kNoThread) {
      ids.emplace_back();
      continue;
    }
    ids.push_back(builder_.Add(
        Thread{.pid = thread.pid, .tid = thread.tid, .comm = builder_.Add(CommOf(thread))}));
  }
  return ids;
}

LabelsId ProfileMaker::AddLabels(const RawKind& kind) {
  std::vector<Label> labels;
  if (kind.cgroup != 0) {
    const std::string_view path = survey_.history.CgroupOf(kind.cgroup);
    labels.push_back(
        {.key = builder_.Add("cgroup"),
         .text = builder_.Add(path.empty() ? fmt::format("{}", kind.cgroup) : std::string(path))});
  }
  if (kind.cpu != RawKind::kNoCpu) {
    labels.push_back({.key = builder_.Add("cpu"), .number = kind.cpu, .unit = builder_.Add("cpu")});
  }
  return builder_.Add(labels);
}

Profile ProfileMaker::Make(Metadata metadata, ImportReport& report) && {
  const std::vector<EventId> events = AddEvents();
  const std::vector<ThreadId> threads = AddThreads();
  const std::vector<StackResolver::Answer> stacks = ResolveStacks();
  std::vector<LabelsId> labels;
  for (const RawKind& kind : table_.kinds()) labels.push_back(AddLabels(kind));
  for (const SampleTable::Row& row : table_.rows()) {
    const StackResolver::Answer& stack = stacks[row.stack];
    report.frames += row.count * stack.frames;
    report.unmapped_frames += row.count * stack.unmapped_frames;
    const std::uint32_t event = table_.kinds()[row.kind].event;
    builder_.Add(Sample{.stack = stack.stack,
                        .thread = threads[row.thread],
                        .event = events[event],
                        .labels = labels[row.kind],
                        .count = HasPlainValues(reader_.events()[event]) ? 0 : ToSigned(row.count),
                        .period = ToSigned(row.period)});
  }
  builder_.SetMetadata(std::move(metadata));
  return std::move(builder_).Finish();
}

Metadata DescribeRecording(const perfdata::Reader& reader, const TimeSpan& times) {
  Metadata metadata;
  const auto comment = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) metadata.comments.push_back(fmt::format("{}: {}", key, value));
  };
  comment("hostname", reader.text(FeatureBit::kHostname));
  comment("os release", reader.text(FeatureBit::kOsRelease));
  comment("arch", reader.text(FeatureBit::kArch));
  comment("perf version", reader.text(FeatureBit::kVersion));
  if (const auto value = reader.DecodedFeature(FeatureBit::kCmdline)) {
    comment("command line",
            fmt::format("{}", fmt::join(std::get<perfdata::Cmdline>(*value).arguments, " ")));
  }
  if (times.is_empty()) return metadata;
  metadata.duration_ns =
      IsConverted(reader.events()) ? ConvertedDuration(reader) : ToSigned(times.last - times.first);
  if (const auto value = reader.DecodedFeature(FeatureBit::kClockData)) {
    const auto& clock = std::get<perfdata::ClockData>(*value);
    metadata.start_time_ns =
        static_cast<std::int64_t>(clock.wall_ns + (times.first - clock.clockid_ns));
  }
  return metadata;
}

}  // namespace

Result<Profile> ReadPerfData(Input& input, const ImportOptions& options, ImportReport& report) {
  // What is mapped when a sample is taken may be told behind it: two passes.
  if (input.is_stream()) TRY(input.All());
  TRY_ASSIGN(const perfdata::Reader reader, perfdata::Reader::Open(input));
  for (const std::string& problem : reader.problems()) report.problems.push_back(problem);

  Survey survey = MakeSurvey(reader, report);
  SampleReader samples(reader, options, survey, report);
  samples.Run();
  samples.table().Close();
  return ProfileMaker(reader, survey, samples.table())
      .Make(DescribeRecording(reader, samples.times()), report);
}

}  // namespace perftape
