// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_perfdata.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/import/converted.h"
#include "convert/import/field_labels.h"
#include "convert/import/first_pass.h"
#include "convert/import/hashed_stacks.h"
#include "convert/import/sample_reader.h"
#include "convert/import/sample_table.h"
#include "convert/import/stack_resolver.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_facts.h"
#include "convert/model/saturating.h"
#include "formats/base/duration.h"
#include "formats/base/parallel.h"
#include "formats/base/progress.h"
#include "formats/base/text.h"
#include "formats/bundle/recording_notes.h"
#include "formats/cgroup/container_path.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/period_unit.h"
#include "formats/perfdata/reader.h"

namespace perftape::convert {
namespace {

using perfdata::FeatureBit;

// Returns the period between two samples of an event; 0 if it is not the same for all.
std::uint64_t NominalPeriodOf(const perfdata::Event& event) {
  const perfdata::EventAttr& attr = event.attr;
  const bool is_clock =
      attr.type == perfdata::kTypeSoftware &&
      (attr.config == perfdata::kSoftwareCpuClock || attr.config == perfdata::kSoftwareTaskClock);
  // Tracepoints with __perf_count (include/trace/events/sched.h): their samples have other periods.
  if (event.name.starts_with("sched:sched_stat_")) return 0;
  if (!attr.Has(perfdata::kFreq)) return attr.sample_period;
  // The kernel converts a clock's frequency into a fixed period (perf_swevent_init_hrtimer).
  return is_clock && attr.sample_period > 0 ? kNsPerSecond / attr.sample_period : 0;
}

// Whether samples stand for others that were left out or added to them.
bool HasUnequalSamples(const bundle::RecordingNotes* notes) {
  return notes != nullptr &&
         (notes->aggregated != 0 || notes->aggregate_ns != 0 || !notes->rates.empty());
}

Event EventOf(const perfdata::Event& event, const UnitsById& units, bool is_nominal,
              ProfileBuilder& builder) {
  Event made{.name = builder.Add(event.name),
             .unit = builder.Add(perfdata::PeriodUnitOf(event.attr, event.name)),
             .period = is_nominal ? NominalPeriodOf(event) : 0};
  ApplyMark(event, units, builder, made);
  return made;
}

// Converts a table of samples into a profile, and releases the table.
class ProfileMaker {
 public:
  // `notes` are those of the recording, or null.
  ProfileMaker(const perfdata::Reader& reader, const FirstPass& first_pass,
               const ImportOptions& options, const bundle::RecordingNotes* notes,
               SampleSet& samples)
      : reader_(reader),
        first_pass_(first_pass),
        options_(options),
        table_(samples.table),
        locations_(samples.locations.get()),
        is_converted_(IsConverted(reader.events())),
        has_nominal_periods_(!HasUnequalSamples(notes)) {
    if (notes == nullptr) return;
    for (const bundle::NotedContainer& one : notes->containers) containers_[one.cgroup] = &one;
  }

  // If `distinct` is not null, stores the sample of each row in it.
  Profile Make(Metadata metadata, unsigned threads, ImportReport& report,
               std::vector<Sample>* distinct) &&;

 private:
  std::vector<StackResolver::Answer> ResolveStacks(unsigned threads);
  std::vector<EventId> AddEvents();
  std::string CommOf(const RawThread& thread) const;
  std::vector<ThreadId> AddThreads();
  void AppendWoken(const RawThread& woken, std::vector<Label>& labels);
  void AppendContainer(std::string_view path, std::vector<Label>& labels);
  void AppendService(NotedServices::Id service, std::vector<Label>& labels);
  LabelsId AddLabels(const EventLabels& of);
  void AddSamples(std::span<const StackResolver::Answer> stacks, std::vector<Sample>* distinct);

  const perfdata::Reader& reader_;
  const FirstPass& first_pass_;
  const ImportOptions& options_;
  SampleTable& table_;
  const offline_unwind::PackedLocations* locations_;
  const bool is_converted_;
  const bool has_nominal_periods_;
  std::unordered_map<std::string_view, const bundle::NotedContainer*> containers_;  // by cgroup
  ProfileBuilder builder_;
};

// Resolves stacks in the order of their epochs, because a Replay only moves forward. Several
// threads hash batches of stacks. One at a time resolves them, in order.
std::vector<StackResolver::Answer> ProfileMaker::ResolveStacks(unsigned threads) {
  constexpr std::size_t kBatch = 1024;
  const std::vector<std::uint32_t> order = table_.StacksByEpoch();
  const Origin origin = is_converted_ ? Origin::kConverted : Origin::kRecorded;
  std::vector<StackResolver::Answer> answers(order.size());
  StackResolver resolver(origin, first_pass_.build_ids, first_pass_.jit, first_pass_.history,
                         builder_);
  if (locations_ != nullptr) resolver.AddUnwound(table_.unwound(), *locations_);
  ProcessHistory::Replay replay(first_pass_.history);
  std::size_t resolved = 0;
  const auto hash = [&](std::size_t batch) {
    const std::size_t begin = batch * kBatch;
    const std::span<const std::uint32_t> indexes =
        std::span(order).subspan(begin, std::min(kBatch, order.size() - begin));
    return HashStacks(table_, indexes, reader_.order(), origin, first_pass_.history);
  };
  const auto resolve = [&](const HashedStacks& batch) {
    for (const StackResolver::Answer& answer : resolver.Resolve(batch, replay)) {
      answers[order[resolved++]] = answer;
    }
    return Status();
  };
  [[maybe_unused]] const Status status =
      MakeAndWriteInOrder((order.size() + kBatch - 1) / kBatch, threads, hash, resolve);
  assert(status.has_value());
  return answers;
}

// Adds the events that have samples, in file order. Adds all events if none has samples, or if the
// file was converted from a profile.
std::vector<EventId> ProfileMaker::AddEvents() {
  const std::span<const perfdata::Event> events = reader_.events().all();
  std::vector<bool> has_samples(events.size(), table_.rows().empty() || is_converted_);
  for (const EventLabels& labels : table_.event_labels()) has_samples[labels.event] = true;
  std::vector<EventId> ids(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!has_samples[i]) continue;
    ids[i] = builder_.Add(EventOf(events[i], first_pass_.units, has_nominal_periods_, builder_));
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

void ProfileMaker::AppendWoken(const RawThread& woken, std::vector<Label>& labels) {
  if (woken.tid == 0) return;
  labels.push_back({.key = builder_.Add(kWokenTidLabel),
                    .number = woken.tid,
                    .unit = builder_.Add(kWokenTidLabel)});
  const std::string comm = CommOf(woken);
  if (comm.empty()) return;  // a label without a text is a number
  labels.push_back({.key = builder_.Add(kWokenLabel), .text = builder_.Add(comm)});
}

void ProfileMaker::AppendContainer(std::string_view path, std::vector<Label>& labels) {
  if (!options_.container_labels) return;
  const auto append = [&](std::string_view key, std::string_view name) {
    if (!name.empty()) labels.push_back({.key = builder_.Add(key), .text = builder_.Add(name)});
  };
  append(kUnitLabel, cgroup::UnitIn(path));
  const auto found = containers_.find(path);
  if (found == containers_.end()) return;
  append(kPodNamespaceLabel, found->second->pod_namespace);
  append(kPodLabel, found->second->pod);
  append(kContainerLabel, found->second->container);
}

void ProfileMaker::AppendService(NotedServices::Id service, std::vector<Label>& labels) {
  for (const bundle::NotedAttribute& one : first_pass_.services.attributes(service)) {
    labels.push_back({.key = builder_.Add(one.key), .text = builder_.Add(one.text)});
  }
}

LabelsId ProfileMaker::AddLabels(const EventLabels& of) {
  std::vector<Label> labels;
  if (of.cgroup != 0) {
    const std::string_view path = first_pass_.history.CgroupOf(of.cgroup);
    const std::string name = path.empty() ? fmt::format("{}", of.cgroup) : std::string(path);
    if (options_.cgroup_label) {
      labels.push_back({.key = builder_.Add(kCgroupLabel), .text = builder_.Add(name)});
    }
    AppendContainer(path, labels);
  }
  AppendService(of.service, labels);
  if (of.cpu != EventLabels::kNoCpu) {
    labels.push_back(
        {.key = builder_.Add(kCpuLabel), .number = of.cpu, .unit = builder_.Add(kCpuLabel)});
  }
  if (of.time_ns != 0) {
    labels.push_back({.key = builder_.Add(kTimestampLabel),
                      .number = ToSigned(of.time_ns),
                      .unit = builder_.Add(perfdata::kNanoseconds)});
  }
  AppendWoken(of.woken, labels);
  AppendFieldLabels(table_.fields(of.fields), options_.field_labels, builder_, labels);
  return builder_.Add(labels);
}

// Returns whether no two of the ids are equal.
template <class Id>
bool AreDistinct(std::vector<Id> ids) {
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end();
}

// Returns, by index in the builder's table of stacks, whether several of the answers are that
// stack.
std::vector<bool> FindShared(std::span<const StackResolver::Answer> answers) {
  std::vector<bool> is_met, is_shared;
  for (const StackResolver::Answer& answer : answers) {
    const std::size_t index = answer.stack.index;
    if (index >= is_met.size()) {
      is_met.resize(2 * index + 1);
      is_shared.resize(2 * index + 1);
    }
    if (is_met[index]) is_shared[index] = true;
    is_met[index] = true;
  }
  return is_shared;
}

// Rows differ in stack, thread, event or labels of the file. In the profile, several of these can
// become equal. A row whose parts all stay distinct is added without a lookup.
void ProfileMaker::AddSamples(std::span<const StackResolver::Answer> stacks,
                              std::vector<Sample>* distinct) {
  const std::vector<EventId> events = AddEvents();
  const std::vector<ThreadId> threads = AddThreads();
  builder_.Reserve({.samples = table_.rows().size(), .labels = table_.event_labels().size() + 1});
  std::vector<std::pair<EventId, LabelsId>> event_labels;
  event_labels.reserve(table_.event_labels().size());
  for (const EventLabels& labels : table_.event_labels()) {
    event_labels.emplace_back(events[labels.event], AddLabels(labels));
  }
  const bool has_distinct_parts = AreDistinct(threads) && AreDistinct(event_labels);
  const std::vector<bool> is_shared = FindShared(stacks);
  const auto is_new = [&](const SampleTable::Row& row) {
    return has_distinct_parts && !is_shared[stacks[row.stack].stack.index];
  };
  const auto sample_of = [&](const SampleTable::Row& row) {
    const auto& [id, labels] = event_labels[row.event_labels];
    Sample sample = {.stack = stacks[row.stack].stack,
                     .thread = threads[row.thread],
                     .event = id,
                     .labels = labels};
    const std::uint32_t event = table_.event_labels()[row.event_labels].event;
    sample.count = HasPlainValues(reader_.events()[event]) ? 0 : ToSigned(row.count);
    sample.period = ToSigned(row.period);
    sample.first_ms = row.first_ms;
    return sample;
  };
  for (const SampleTable::Row& row : table_.rows()) {
    if (!is_new(row)) builder_.Add(sample_of(row));
  }
  for (const SampleTable::Row& row : table_.rows()) {
    if (is_new(row)) builder_.AddNew(sample_of(row));
  }
  if (distinct == nullptr) return;
  for (const SampleTable::Row& row : table_.rows()) distinct->push_back(sample_of(row));
}

Profile ProfileMaker::Make(Metadata metadata, unsigned threads, ImportReport& report,
                           std::vector<Sample>* distinct) && {
  const std::vector<StackResolver::Answer> stacks = ResolveStacks(threads);
  table_.ReleaseStacks();
  AddSamples(stacks, distinct);
  for (const SampleTable::Row& row : table_.rows()) {
    report.frames += row.count * stacks[row.stack].frames;
    report.unmapped_frames += row.count * stacks[row.stack].unmapped_frames;
  }
  builder_.SetMetadata(std::move(metadata));
  return std::move(builder_).Finish();
}

Metadata DescribeRecording(const perfdata::Reader& reader, const TimeSpan& times) {
  Metadata metadata;
  const auto comment = [&](std::string_view key, const std::string& value) {
    if (!value.empty())
      metadata.comments.push_back(fmt::format("{}{}{}", key, kCommentSeparator, value));
  };
  comment(kHostnameComment, reader.text(FeatureBit::kHostname));
  comment(kOsReleaseComment, reader.text(FeatureBit::kOsRelease));
  if (KnowsArch(reader.events())) comment(kArchComment, reader.text(FeatureBit::kArch));
  comment(kPerfVersionComment, reader.text(FeatureBit::kVersion));
  if (const auto value = reader.DecodedFeature(FeatureBit::kCmdline)) {
    comment(kCommandLineComment, Joined(std::get<perfdata::Cmdline>(*value).arguments, " "));
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

// Damaged notes say nothing. perftape-inspect reports the damage.
void AddNotes(const perfdata::Reader& reader, ImportReport& report) {
  if (reader.container() == perfdata::Container::kPipe) return;
  auto found = bundle::FindNotes(reader.file());
  if (!found || !*found) return;
  const auto notes = std::make_shared<const bundle::RecordingNotes>(**std::move(found));
  report.recording_notes = notes;
  report.trigger = notes->trigger;
  for (const bundle::NotedChains& chains : notes->chains) {
    const bool is_complete = chains.end == bundle::kCompleteChain;
    report.noted_chains[chains.event].Add(
        {.all = chains.count, .complete = is_complete ? chains.count : 0});
  }
}

// Times of so many samples would take too much memory.
ImportOptions WithoutTimes(ImportOptions options) {
  options.time_label = false;
  options.field_labels.clear();
  return options;
}

// Whether samples of an event tell when something happened, or for how long until then.
bool NeedsExactTimes(const perfdata::Event& event) {
  const perfdata::PeriodMeaning meaning = perfdata::PeriodMeaningOf(event.name);
  return event.attr.type == perfdata::kTypeTracepoint ||
         meaning == perfdata::PeriodMeaning::kWait ||
         meaning == perfdata::PeriodMeaning::kLatency ||
         perfdata::HasWokenThread(event.attr, event.name);
}

// Returns FirstPass::time_step_ns.
std::uint64_t TimeStepOf(const perfdata::EventTable& events, const ImportOptions& options,
                         const ImportReport& report, const FirstPass& first_pass) {
  constexpr std::uint64_t kParts = 4000;  // more than a screen has pixels
  const bool is_exact = !options.time_label || first_pass.samples <= options.most_exact_times ||
                        first_pass.times.is_empty() || !report.switches.empty() ||
                        std::ranges::any_of(events.all(), NeedsExactTimes);
  return is_exact ? 0 : (first_pass.times.last - first_pass.times.first) / kParts;
}

Result<Profile> Read(Input& input, const ImportOptions& given, ImportReport& report,
                     RecordedSamples* recorded) {
  // Two passes are needed: the record of a mapping may follow a sample that hit it.
  if (input.is_stream()) TRY(input.All());
  TRY_ASSIGN(const perfdata::Reader reader, perfdata::Reader::Open(input));
  for (const std::string& problem : reader.problems()) report.problems.push_back(problem);
  AddNotes(reader, report);
  AddWorkToProgress(reader.data_size(), 2);

  if (!given.field_labels.empty()) report.fields = FieldNamesOf(reader.events());
  FirstPass first_pass = RunFirstPass(reader, given, report);
  if (given.service_labels && report.recording_notes) {
    first_pass.services = NotedServices(report.recording_notes->processes);
  }
  for (const perfdata::Event& event : reader.events().all()) report.events.push_back(event.name);
  report.without_times = given.time_label && first_pass.samples > given.most_timed_samples;
  const ImportOptions options = report.without_times ? WithoutTimes(given) : given;
  // Rows of records must stay.
  if (recorded == nullptr) {
    first_pass.time_step_ns = TimeStepOf(reader.events(), options, report, first_pass);
  }
  SampleSet samples = recorded == nullptr ? ReadSamples(reader, options, first_pass, report)
                                          : ReadSamplesByRecord(reader, options, first_pass, report,
                                                                recorded->of_records);
  report.time_step_ns = samples.time_step_ns;
  return ProfileMaker(reader, first_pass, options, report.recording_notes.get(), samples)
      .Make(DescribeRecording(reader, samples.times), options.threads, report,
            recorded == nullptr ? nullptr : &recorded->distinct);
}

}  // namespace

Result<Profile> ReadPerfData(Input& input, const ImportOptions& options, ImportReport& report) {
  return Read(input, options, report, nullptr);
}

Result<Profile> ReadPerfDataByRecord(Input& input, const ImportOptions& options,
                                     ImportReport& report, RecordedSamples& samples) {
  static_assert(RecordedSamples::kNone == kNoRow);
  return Read(input, options, report, &samples);
}

}  // namespace perftape::convert
