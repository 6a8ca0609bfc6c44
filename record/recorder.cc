// SPDX-License-Identifier: Apache-2.0
#include "record/recorder.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "formats/perfdata/record_cursor.h"
#include "record/cpu_list.h"
#include "record/executable.h"
#include "record/kernel_maps.h"
#include "record/machine.h"
#include "record/open_file_name.h"
#include "record/proc_snapshot.h"
#include "record/recording.h"

namespace perftape::record {
namespace {

constexpr int kLeastPauseMs = 10;  // between two drains; a ring holds far more than comes meanwhile

}  // namespace

Status Recording::Begin() {
  TRY(Open());
  TRY(WriteSnapshot());
  return Start();
}

Status Recording::StartCommand() {
  if (options_.command.empty()) return {};
  // Into the recording, the command's own words would be damage; perf record does the same.
  const auto output = output_.is_stdout() ? CommandOutput::kStderr : CommandOutput::kStdout;
  Result<Child> child = Child::Start(options_.command, options_.command_signals, output);
  if (!child) return CommandFailed(std::move(child).error());
  child_.emplace(*std::move(child));
  return {};
}

std::unexpected<Error> Recording::CommandFailed(Error error) {
  summary_.command_failure = error.message;
  summary_.command_status = ExitStatusOfFailedExec(error.code);
  return Fail(std::move(error));
}

Result<RecordSummary> Recording::GiveUp(Error error) && {
  if (summary_.command_failure.empty()) return Fail(std::move(error));
  startup_drain_.reset();  // its thread counts into the summary
  return std::move(summary_);
}

Status Recording::Open() {
  TRY_ASSIGN(output_, ResolveOutput(options_.output));
  TRY(StartCommand());
  std::optional<pid_t> command;
  if (child_) command = child_->pid();
  TRY_ASSIGN(targets_, Targets::Resolve(options_.target, command));

  TRY(OpenEvents());
  SampleFilter filter = targets_->filter();
  filter.user = options_.user;
  if (options_.include_self == IncludeSelf::kNo) filter.excluded_process = getpid();
  TRY_ASSIGN(bpf_, BpfSession::Load({.filter = std::move(filter),
                                     .callchains = options_.callchains,
                                     .ring_bytes = options_.ring_bytes,
                                     .period_ns = TimerPeriodNs(options_.rate),
                                     .log = options_.log}));
  // From here on no fork, exec or mapping goes unseen; what was before, the snapshot tells.
  TRY_ASSIGN(Sideband sideband, Sideband::Open(sideband_events_));
  sideband_.emplace(std::move(sideband));
  TRY(RedirectOutput(sampling_, sideband_events_));
  TRY_ASSIGN(BackgroundDrain drain,
             BackgroundDrain::Start(sideband_->poll_fd(), [this] { return DrainSideband(); }));
  startup_drain_.emplace(std::move(drain));
  decoder_.emplace(ids_, format_, UserAddressLimit());
  HitKeepers keepers;
  if (WantsBundle()) {
    TRY_ASSIGN(RecordingBundle prepared, RecordingBundle::Prepare(options_.bundle));
    bundle_.emplace(std::move(prepared));
    keepers = {&bundle_->files(), &bundle_->jit()};
  }
  build_ids_.emplace(format_, BuildIdRoots{}, keepers);
  return OpenWriter();
}

// A stream has no end to put it behind.
bool Recording::WantsBundle() const {
  using Place = BundleRequest::Place;
  if (options_.bundle.place != Place::kInRecording) {
    return options_.bundle.place == Place::kAside;
  }
  return !output_.is_stream();
}

Status Recording::OpenEvents() {
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  const perfdata::EventAttr sampling = SamplingAttr(options_.rate);
  TRY_ASSIGN(sampling_,
             OpenOnCpus(AttrForBpf(sampling), options_.cpus.empty() ? online : options_.cpus));
  // A process may map and fork on any CPU, whichever are sampled.
  TRY_ASSIGN(sideband_events_, OpenOnCpus(AttrForPolling(SidebandAttr()), online));
  format_ = perfdata::FormatOf(sampling);
  for (const CpuEvent& event : sampling_) {
    ids_.Add(kSamplingEvent, static_cast<std::uint32_t>(event.cpu), event.id);
  }
  for (const CpuEvent& event : sideband_events_) {
    ids_.Add(kSidebandEvent, static_cast<std::uint32_t>(event.cpu), event.id);
  }
  WatchCpus();
  return {};
}

// CPUs that are offline now, too, may be recorded before the end.
void Recording::WatchCpus() {
  const Result<std::vector<int>> present = PresentCpus();
  if (!present) return;
  ids_.Reserve(kSamplingEvent, options_.cpus.empty() ? *present : options_.cpus);
  ids_.Reserve(kSidebandEvent, *present);
  std::vector<int> recorded;
  for (const CpuEvent& event : sideband_events_) recorded.push_back(event.cpu);
  hotplug_.emplace(CpuHotplug::Machine{.online = [] { return OnlineCpus(); },
                                       .enabled_ns = [this](int cpu) -> Result<std::uint64_t> {
                                         const auto event =
                                             std::ranges::find(sampling_, cpu, &CpuEvent::cpu);
                                         if (event == sampling_.end())
                                           return Fail(ErrorCode::kNotFound, "");
                                         return EnabledNs(*event);
                                       },
                                       .reopen = [this](int cpu) { return ReopenOn(cpu); }},
                   *present, recorded);
}

// Both events of a CPU that came or came back. Its records go on under the ids that the file has.
Status Recording::ReopenOn(int cpu) {
  const auto number = static_cast<std::uint32_t>(cpu);
  const auto keep = [cpu](std::vector<CpuEvent>& events, CpuEvent event) -> const CpuEvent& {
    std::erase_if(events, [cpu](const CpuEvent& former) { return former.cpu == cpu; });
    return events.emplace_back(std::move(event));
  };
  const int only[] = {cpu};
  TRY_ASSIGN(std::vector<CpuEvent> sideband, OpenOnCpus(AttrForPolling(SidebandAttr()), only));
  ids_.AddAlias(sideband.front().id, kSidebandEvent, number);
  TRY(sideband_->Replace(sideband.front()));
  keep(sideband_events_, std::move(sideband.front()));
  if (!ids_.Find(kSamplingEvent, number)) return {};  // not one of those asked for

  TRY_ASSIGN(std::vector<CpuEvent> sampling,
             OpenOnCpus(AttrForBpf(SamplingAttr(options_.rate)), only));
  ids_.AddAlias(sampling.front().id, kSamplingEvent, number);
  TRY(RedirectOutput(sampling, sideband_events_));
  bpf_->RestartTimer(cpu);
  TRY(bpf_->AttachTo(sampling));
  TRY(EnableAll(sampling));
  keep(sampling_, std::move(sampling.front()));
  return {};
}

std::vector<perfdata::Event> Recording::Events() const {
  const auto event = [&](const perfdata::EventAttr& attr, std::uint32_t place) {
    return perfdata::Event{.attr = attr,
                           .format = format_,
                           .ids = ids_.IdsOf(place),
                           .name = perfdata::DefaultEventName(attr)};
  };
  return {event(SamplingAttr(options_.rate), kSamplingEvent),
          event(SidebandAttr(), kSidebandEvent)};
}

Status Recording::OpenWriter() {
  programs_ = LoadedBpfPrograms();
  features_ =
      DescribeMachine({}, {.version = PERFTAPE_VERSION, .arguments = options_.command_line});
  features_.push_back({perfdata::FeatureBit::kEventDesc, perfdata::EventDesc{Events()}});
  if (!programs_.empty()) {
    features_.push_back({perfdata::FeatureBit::kBpfProgInfo, BpfProgInfoOf(programs_)});
  }
  const perfdata::WriterOptions how = {.compression_level = options_.compression_level};
  if (!output_.is_stream()) {
    TRY_ASSIGN(perfdata::Writer file, perfdata::Writer::Create(options_.output, Events(), how));
    writer_.emplace(std::move(file));
    TRY_ASSIGN(file_, writer_->DuplicateFile());
    return {};
  }
  DropWhatNoPipeCarries();
  TRY_ASSIGN(perfdata::Writer pipe, perfdata::Writer::CreatePipe(options_.output, Events(),
                                                                 features_, how, stop_requested_));
  writer_.emplace(std::move(pipe));
  return {};
}

// A pipe carries a feature in one record; BPF_PROG_INFO of very many programs does not fit.
void Recording::DropWhatNoPipeCarries() {
  std::erase_if(features_, [&](const perfdata::Feature& feature) {
    std::vector<std::byte> payload;
    perfdata::EncodeFeature(feature.value, payload);
    const bool fits = payload.size() <= perfdata::kMaxRecordSize - 2 * sizeof(std::uint64_t);
    if (!fits) {
      summary_.warnings.push_back("left out, too large for a pipe: feature " +
                                  perfdata::FeatureName(feature.bit));
    }
    return !fits;
  });
}

Status Recording::WriteSnapshot() {
  records_.clear();
  TRY(ids_.AppendIndex(records_));
  TRY_ASSIGN(std::vector<std::string> warnings, AppendKernelMaps({}, format_, records_));
  std::ranges::move(warnings, std::back_inserter(summary_.warnings));
  TRY(AppendBpfPrograms(programs_, format_, records_));
  if (const auto& processes = targets_->processes()) {
    members_.emplace(*processes, format_);
    TRY(SnapshotProcesses("/proc", *processes, format_, records_));
  } else {
    TRY(SnapshotAll("/proc", format_, records_));
  }
  TRY(perfdata::Encode(perfdata::FinishedInit{}, 0, records_));
  TRY(build_ids_->Observe(records_, hit_build_ids_));
  TRY(writer_->Append(records_));
  return writer_->Commit();
}

Status Recording::Start() {
  TRY(bpf_->AttachTo(sampling_));
  TRY(EnableAll(sampling_));
  start_ns_ = MonotonicNs();
  if (child_) {
    if (Status released = child_->Release(); !released) {
      return CommandFailed(std::move(released).error());
    }
  }
  if (options_.duration) {
    deadline_ns_ = MonotonicNs() + static_cast<std::uint64_t>(options_.duration->count());
  }
  // Only now: what failed until here has not taken an earlier recording's name away.
  TRY(writer_->Publish());
  if (file_) file_name_ = NameOfOpenFile(file_.get());
  return {};
}

bool Recording::IsOver() {
  if (stop_requested_.stop_requested() || targets_->Gone()) return true;
  if (deadline_ns_ && MonotonicNs() >= *deadline_ns_) return true;
  if (!child_) return false;
  const Result<std::optional<int>> status = child_->TryWait();
  return status && status->has_value();
}

int Recording::PollTimeoutMs() const {
  const auto interval_ms = static_cast<int>(options_.flush_interval.count());
  if (!deadline_ns_) return interval_ms;
  const std::uint64_t now = MonotonicNs();
  const std::uint64_t left_ns = *deadline_ns_ > now ? *deadline_ns_ - now : 0;
  return static_cast<int>(
      std::min<std::uint64_t>(left_ns / 1'000'000 + 1, static_cast<std::uint64_t>(interval_ms)));
}

// Returns when a ring has enough to be worth a drain, when the recording may be over, or after a
// flush interval.
Status Recording::WaitForWork() {
  pollfd wait_for[] = {
      {.fd = stop_.fd(), .events = POLLIN, .revents = 0},
      {.fd = child_ ? child_->pidfd() : -1, .events = POLLIN, .revents = 0},
      {.fd = bpf_->poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = sideband_->poll_fd(), .events = POLLIN, .revents = 0},
  };
  // Once woken, the ring's descriptor stays readable while single samples come in. So it is not
  // looked at for a moment: else each of them would be drained, written and committed by itself.
  int ready = poll(wait_for, 2, std::min(kLeastPauseMs, PollTimeoutMs()));
  if (ready == 0) ready = poll(wait_for, std::size(wait_for), PollTimeoutMs());
  if (ready < 0 && errno != EINTR) return FailErrno("poll", errno);
  return {};
}

Status Recording::RunToTheEnd() {
  TRY(startup_drain_->Stop());
  do {
    // What is younger than this may have older company that is not in its ring yet.
    TRY(Flush(MonotonicNs()));
    TRY(WaitForWork());
  } while (!IsOver());
  const std::uint64_t end_ns = MonotonicNs();
  TRY(DisableAll(sampling_));
  CloseTimers(end_ns);
  return Flush(std::numeric_limits<std::uint64_t>::max());
}

Status Recording::Flush(std::uint64_t limit_ns) {
  TRY(DrainRings());
  const std::uint64_t now_ns = MonotonicNs();
  if (hotplug_) TRY(hotplug_->Check(now_ns, bpf_->Counters()));
  TRY(AddLosses(std::min(limit_ns, now_ns)));
  InOrder sink{*this};
  TRY(merge_.Release(limit_ns, sink));
  records_.clear();
  TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, records_));
  TRY(writer_->Append(records_));
  TRY(writer_->Commit());
  committed_ = {summary_.samples, summary_.lost_samples, process_events_};
  return {};
}

Status Recording::DrainRings() {
  const auto take_message = [&](Bytes message) {
    records_.clear();
    const Result<std::uint64_t> time = decoder_->Append(message, records_);
    if (time) {
      merge_.Add(*time, records_);
    } else {
      ++summary_.damaged_messages;
    }
  };
  TRY(bpf_->Drain(take_message));
  return DrainSideband();
}

Status Recording::DrainSideband() {
  std::vector<std::byte> renamed;
  TRY(sideband_->Drain([&](Bytes record) {
    if (ids_.has_aliases()) {
      renamed.assign(record.begin(), record.end());
      ids_.ReplaceAliases(renamed);
      record = renamed;
    }
    if (!merge_.AddKernelRecord(record, format_)) ++summary_.damaged_messages;
  }));
  return {};
}

// One record in its turn: kept if it concerns a target, told to the build ids, written.
Status Recording::WriteDue(Bytes bytes) {
  TRY_ASSIGN(const std::optional<perfdata::RecordView> record,
             perfdata::RecordCursor(bytes, 0, std::endian::native).Next());
  if (members_ && !members_->Keeps(*record)) return {};
  if (record->type == perfdata::RecordType::kSample) {
    ++summary_.samples;
    last_sample_ns_ = perfdata::TimeOf(*record, format_);
    if (first_sample_ns_ == 0) first_sample_ns_ = last_sample_ns_;
  } else if (record->type != perfdata::RecordType::kLostSamples) {
    ++process_events_;
  }
  if (record->type == perfdata::RecordType::kLost) {
    TRY_ASSIGN(const perfdata::Lost lost, perfdata::Decode<perfdata::Lost>(*record, format_));
    summary_.lost_process_events += lost.count;
  }
  // A binary's build id stands before the first sample that hit it.
  hit_build_ids_.clear();
  TRY(build_ids_->Observe(*record, hit_build_ids_));
  TRY(writer_->Append(hit_build_ids_));
  return writer_->Append(bytes);
}

// What the timers of the CPUs missed since the program's last call on each.
void Recording::CloseTimers(std::uint64_t end_ns) {
  const std::vector<wire_cpu> counters = bpf_->Counters();
  for (const CpuEvent& event : sampling_) {
    const auto cpu = static_cast<std::uint32_t>(event.cpu);
    if (cpu >= counters.size() || (hotplug_ && !hotplug_->is_recorded(event.cpu))) continue;
    ledger_.CloseTimer(cpu, counters[cpu], start_ns_, end_ns);
  }
}

// What could not be delivered since the last flush: a LOST_SAMPLES for each CPU.
Status Recording::AddLosses(std::uint64_t time_ns) {
  for (const LossLedger::NewLoss& loss : ledger_.Update(bpf_->Counters())) {
    TRY(AddLost(loss.cpu, loss.samples, time_ns));
  }
  const std::uint64_t damaged = summary_.damaged_messages;
  return AddLost(0, damaged - std::exchange(damaged_written_, damaged), time_ns);
}

Status Recording::AddLost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  if (count == 0) return {};
  summary_.lost_samples += count;
  records_.clear();
  TRY(AppendLoss(kSamplingEvent, cpu, perfdata::LostSamples{.count = count}, time_ns));
  merge_.Add(time_ns, records_);
  return {};
}

Result<RecordSummary> Record(const RecordOptions& options, std::stop_token stop) {
  Recording recording(options, std::move(stop));
  if (Status begun = recording.Begin(); !begun) {
    return std::move(recording).GiveUp(std::move(begun).error());
  }
  if (const Status run = recording.RunToTheEnd(); !run) {
    return std::move(recording).EndEarly(run.error());
  }
  return std::move(recording).Finish();
}

}  // namespace perftape::record
