// SPDX-License-Identifier: Apache-2.0
// The course of a recording. Its end is in recording_end.cc.
#include "record/recording.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "formats/base/duration.h"
#include "record/flight/flight_recorder.h"
#include "record/output/one_file.h"
#include "record/output/rotation.h"
#include "record/processes/executable.h"
#include "record/summary.h"

namespace perftape::record {

Recording::Recording(const RecordOptions& options, RecordingWorld world, std::stop_token stop)
    : options_(options), world_(std::move(world)), stop_(std::move(stop), world_.clock) {}

Status Recording::Begin() {
  TRY(PreparePlan());
  TRY_ASSIGN(const OutputTarget output, plan_->FirstTarget());
  TRY(StartCommand(output));
  TRY_ASSIGN(input_,
             world_.open_input(command_ ? std::optional(command_->pid()) : std::optional<pid_t>(),
                               warnings_));
  TRY(OpenOutput());
  TRY(StartSampling());
  // An error before this line leaves an earlier recording with this name unchanged.
  TRY(plan_->Start());
  if (options_.on_published) options_.on_published();
  return {};
}

Status Recording::PreparePlan() {
  const OutputOptions& output = options_.output;
  if (options_.flight) {
    TRY_ASSIGN(plan_, FlightRecorder::Prepare(output, *options_.flight, options_.input.cpus,
                                              options_.command_signals, world_.clock));
  } else if (options_.rotation) {
    TRY_ASSIGN(plan_, Rotation::Prepare(output, *options_.rotation, options_.command_signals,
                                        world_.clock));
  } else {
    plan_ = std::make_unique<OneFile>(output);
  }
  return {};
}

Status Recording::RunToTheEnd() {
  if (options_.drop_privileges) TRY(options_.drop_privileges());
  do {
    // Records after this time wait for the next round, because older ones may still arrive in rings
    // that were already drained.
    TRY(Flush(world_.clock.MonotonicNs()));
    if (options_.on_progress) {
      const RecordCounts& committed = parts_->counter.committed();
      options_.on_progress({.samples = committed.samples,
                            .lost_samples = committed.lost_samples,
                            .file_bytes = plan_->file_bytes()});
    }
    TRY(WaitForWork());
  } while (!IsOver());
  const std::uint64_t end_ns = world_.clock.MonotonicNs();
  TRY(input_->Stop());
  losses_.CloseTimers(*input_, end_ns);
  return Flush(std::numeric_limits<std::uint64_t>::max());
}

// Drains the rings, and ends a round with all records up to `limit_ns`, in time order.
Status Recording::Flush(std::uint64_t limit_ns) {
  const bool is_last = limit_ns == std::numeric_limits<std::uint64_t>::max();
  TRY(input_->Drain());
  IncomingRecords& records = input_->records();
  const std::uint64_t released_ns =
      plan_->WaitsForExits() ? records.BeforeLastExits(limit_ns) : limit_ns;
  held_ = std::chrono::nanoseconds(limit_ns - released_ns);
  const std::uint64_t now_ns = world_.clock.MonotonicNs();
  flushed_ns_ = std::max(flushed_ns_, std::min(released_ns, now_ns));
  TRY(input_->ReopenOnReturnedCpus(now_ns));
  TRY(losses_.AddNewLosses(*input_, std::min(released_ns, now_ns)));
  TRY(CountCalls(std::min(released_ns, now_ns), is_last));
  TRY(records.Release(released_ns, *stages_));
  if (governor_) {
    if (const auto divisor = governor_->Check(now_ns, world_.clock.CpuNs())) {
      input_->SampleOneIn(*divisor);
    }
  }
  if (parts_->cgroups) {
    is_last ? parts_->cgroups->ReadAll(now_ns) : parts_->cgroups->Check(now_ns);
  }
  return plan_->EndRound(released_ns, is_last);
}

std::uint64_t Recording::IntervalNs() const {
  return static_cast<std::uint64_t>(
      options_.latency_interval.value_or(std::chrono::nanoseconds()).count());
}

// A sum of fast calls is in the file in which they ended, unless a file ends because it is full.
Status Recording::CountCalls(std::uint64_t time_ns, bool is_last) {
  constexpr std::uint64_t kDrainNs = kNsPerSecond;
  const bool ends_file = is_last || plan_->IsSeamDue();
  const bool is_interval =
      options_.on_latency && (is_last || time_ns >= latency_interval_ns_ + IntervalNs());
  const bool is_due = time_ns >= drained_latency_ns_ + kDrainNs;
  if (!ends_file && !is_interval && !is_due) return {};
  drained_latency_ns_ = time_ns;
  TRY(input_->DrainLatency());
  if (is_interval) {
    if (latency_interval_ns_ != 0) options_.on_latency(input_->NextLatencyInterval());
    latency_interval_ns_ = time_ns;
  }
  if (ends_file) input_->SumUpFastCalls(time_ns);
  return {};
}

Status Recording::StartCommand(const OutputTarget& output) {
  if (options_.command.empty()) return {};
  // The output of the command would damage a recording on stdout; perf record does the same.
  const auto where = output.is_stdout() ? CommandOutput::kStderr : CommandOutput::kStdout;
  Result<Child> command = Child::Start(options_.command, options_.command_signals, where);
  if (!command) return CommandFailed(std::move(command).error());
  command_.emplace(*std::move(command));
  return {};
}

Status Recording::OpenOutput() {
  const std::vector<BpfProgram> programs = world_.loaded_programs();
  const FileEvents& events = input_->events();
  TRY_ASSIGN(FileTemplate files,
             FileTemplate::Make(options_.output, events, programs, stop_.token()));
  const SampleFormats formats = events.sample_formats();
  parts_.emplace(OutputParts{
      .clock = world_.clock,
      .files = std::move(files),
      .sample_formats = formats,
      .counter = RecordCounter(events),
      .build_ids = BuildIdCollector(
          formats,
          {.files = options_.output.bundle.others,
           .on_binary = options_.rotation ? options_.rotation->files.on_binary : BinarySink()}),
      .notes_of = [this](const OutputCounts& counts) {
        return NotesOf(SumUpWith({.counts = counts}));
      }});
  stages_.emplace(input_->processes(), *parts_, *plan_);
  if (options_.cgroup_usage) StartCgroupUsage();
  TRY_ASSIGN(const std::vector<std::byte> state, input_->InitialState(programs, warnings_));
  return plan_->Open(*parts_, events, state, warnings_);
}

// The cgroups of the targets are read before anything runs, those of others when they have samples.
void Recording::StartCgroupUsage() {
  const Result<std::vector<CgroupHierarchy>> hierarchies = MountedCgroupHierarchies();
  if (!hierarchies) {
    warnings_.push_back("no limits of cgroups are recorded: " + hierarchies.error().message);
    return;
  }
  CgroupUsage& cgroups = parts_->cgroups.emplace(FindUsageControllers(*hierarchies),
                                                 PodNames(NodeRoot(), options_.input.names));
  for (const std::uint32_t pid : input_->processes().value_or(std::vector<std::uint32_t>())) {
    cgroups.AddProcess(pid);
  }
  cgroups.Check(world_.clock.MonotonicNs());
}

Status Recording::StartSampling() {
  TRY(input_->Start());
  losses_.Start(*input_, world_.clock.MonotonicNs());
  if (options_.max_cpu) {
    governor_.emplace(*options_.max_cpu, world_.clock.MonotonicNs(), world_.clock.CpuNs());
  }
  if (command_) {
    if (Status released = command_->Release(); !released) {
      return CommandFailed(std::move(released).error());
    }
  }
  if (options_.duration) stop_.StartTimer(*options_.duration);
  return {};
}

std::unexpected<Error> Recording::CommandFailed(Error error) {
  command_failure_ = error.message;
  command_status_ = ExitStatusOfFailedExec(error.code);
  return Fail(std::move(error));
}

bool Recording::IsOver() {
  if (stop_.IsMet()) {
    if (!stop_.token().stop_requested()) end_ = End::kDurationOver;
    return true;
  }
  if (input_->HaveTargetsEnded()) {
    end_ = End::kTargetsGone;
    return true;
  }
  if (!command_) return false;
  const Result<std::optional<int>> status = command_->TryWait();
  const bool has_ended = status && status->has_value();
  if (has_ended) end_ = End::kCommandEnded;
  return has_ended;
}

// Returns when a ring is full enough for a drain, when the recording may be over, or after a flush
// interval.
Status Recording::WaitForWork() {
  // The shortest time between two drains. A ring has room for far more than arrives in it.
  constexpr std::chrono::milliseconds kShortestPause{10};
  pollfd wait_for[] = {
      {.fd = stop_.poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = command_ ? command_->pidfd() : -1, .events = POLLIN, .revents = 0},
      {.fd = plan_->poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = input_->sample_poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = input_->sideband_poll_fd(), .events = POLLIN, .revents = 0},
  };
  const std::span<pollfd> all(wait_for);
  // The first poll does not include the rings: those of process events stay readable after their
  // CPU is gone.
  const std::span<pollfd> without_rings = all.first(3);
  const auto pause = std::min(kShortestPause, options_.flush_interval);
  // What the last flush has held back is committed a flush interval after it was recorded.
  const auto held = std::chrono::ceil<std::chrono::milliseconds>(held_);
  const auto until_flush = plan_->UntilRound(std::max(pause, options_.flush_interval - held));
  TRY_ASSIGN(const int ready,
             world_.clock.Poll(without_rings, stop_.Timeout(std::min(pause, until_flush))));
  if (ready == 0) TRY(world_.clock.Poll(all, stop_.Timeout(until_flush)));
  return {};
}

}  // namespace perftape::record
