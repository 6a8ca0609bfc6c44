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
  if (options_.control.is_used()) {
    TRY_ASSIGN(EventControl control, EventControl::Open(options_.control, world_.clock));
    control_.emplace(std::move(control));
  }
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
  TRY(input_->Drain());
  const Round round = BeginRound(limit_ns);
  TRY(input_->ReopenOnReturnedCpus(round.now_ns));
  TRY(losses_.AddNewLosses(*input_, round.known_until_ns()));
  TRY(CountCalls(round));
  TRY(input_->records().Release(round.released_ns, *stages_));
  LimitOwnCpuTime(round);
  ReadCgroupUsage(round);
  return plan_->EndRound(round.released_ns, round.is_last);
}

// Decides up to which time the drained records are released. Later ones are held back.
Recording::Round Recording::BeginRound(std::uint64_t limit_ns) {
  const std::uint64_t released_ns =
      plan_->WaitsForExits() ? input_->records().BeforeLastExits(limit_ns) : limit_ns;
  held_ = std::chrono::nanoseconds(limit_ns - released_ns);
  const Round round = {.now_ns = world_.clock.MonotonicNs(),
                       .released_ns = released_ns,
                       .is_last = limit_ns == std::numeric_limits<std::uint64_t>::max()};
  flushed_ns_ = std::max(flushed_ns_, round.known_until_ns());
  return round;
}

void Recording::LimitOwnCpuTime(const Round& round) {
  if (!governor_) return;
  const auto divisor = governor_->Check(round.now_ns, world_.clock.CpuNs());
  if (divisor) input_->SampleOneIn(*divisor);
}

void Recording::ReadCgroupUsage(const Round& round) {
  if (!parts_->cgroups) return;
  round.is_last ? parts_->cgroups->ReadAll(round.now_ns) : parts_->cgroups->Check(round.now_ns);
}

// Reads the calls of latency probes if something needs them now.
Status Recording::CountCalls(const Round& round) {
  constexpr std::uint64_t kDrainNs = kNsPerSecond;
  const std::uint64_t time_ns = round.known_until_ns();
  // A sum of fast calls is in the file in which they ended, unless a file ends because it is full.
  const bool ends_file = round.is_last || plan_->IsSeamDue();
  const bool ends_interval = EndsLatencyInterval(round);
  const bool is_due = time_ns >= drained_latency_ns_ + kDrainNs;
  if (!ends_file && !ends_interval && !is_due) return {};
  drained_latency_ns_ = time_ns;
  TRY(input_->DrainLatency());
  if (ends_interval) EndLatencyInterval(time_ns);
  if (ends_file) input_->SumUpFastCalls(time_ns);
  return {};
}

bool Recording::EndsLatencyInterval(const Round& round) const {
  if (!options_.on_latency) return false;
  const auto interval_ns = static_cast<std::uint64_t>(
      options_.latency_interval.value_or(std::chrono::nanoseconds()).count());
  return round.is_last || round.known_until_ns() >= latency_interval_ns_ + interval_ns;
}

// The first interval begins with the first round, and has no calls before it.
void Recording::EndLatencyInterval(std::uint64_t time_ns) {
  if (latency_interval_ns_ != 0) options_.on_latency(input_->NextLatencyInterval());
  latency_interval_ns_ = time_ns;
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
  const std::vector<BpfProgram> programs =
      options_.input.bpf_events ? world_.loaded_programs() : std::vector<BpfProgram>();
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
           .on_binary = options_.rotation ? options_.rotation->files.on_binary : BinarySink(),
           .reads_ids = options_.output.build_ids}),
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
  const std::uint64_t start_ns = world_.clock.MonotonicNs();
  losses_.Start(*input_, start_ns);
  if (options_.max_cpu) {
    governor_.emplace(*options_.max_cpu, world_.clock.MonotonicNs(), world_.clock.CpuNs());
  }
  if (command_) {
    if (Status released = command_->Release(); !released) {
      return CommandFailed(std::move(released).error());
    }
  }
  if (options_.duration) stop_.StartTimer(*options_.duration);
  if (control_) {
    const auto request_file = [this](std::string_view cause) { return plan_->RequestFile(cause); };
    control_->Start({.input = *input_, .losses = losses_, .request_file = request_file}, start_ns);
  }
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
  if (options_.max_file_bytes && plan_->file_bytes() >= *options_.max_file_bytes) {
    end_ = End::kFileFull;
    return true;
  }
  if (control_ && control_->is_stop_requested()) return true;
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
      {.fd = -1, .events = POLLIN, .revents = 0},  // of the commands
      {.fd = stop_.poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = command_ ? command_->pidfd() : -1, .events = POLLIN, .revents = 0},
      {.fd = plan_->poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = input_->sample_poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = input_->sideband_poll_fd(), .events = POLLIN, .revents = 0},
  };
  const std::span<pollfd> all(wait_for);
  // The first poll does not include the rings: those of process events stay readable after their
  // CPU is gone.
  const std::span<pollfd> without_rings = all.first(4);
  const auto pause = std::min(kShortestPause, options_.flush_interval);
  // What the last flush has held back is committed a flush interval after it was recorded.
  const auto held = std::chrono::ceil<std::chrono::milliseconds>(held_);
  const auto until_flush = plan_->UntilRound(std::max(pause, options_.flush_interval - held));
  TRY_ASSIGN(const int ready, Wait(without_rings, std::min(pause, until_flush)));
  const bool wants_round = control_ && control_->wants_round();
  if (ready == 0 && !wants_round) TRY(Wait(all, until_flush));
  return {};
}

// As Clock::Poll, but ends with the recording, and executes commands meanwhile. They are answered
// without a round. The first file is theirs.
Result<int> Recording::Wait(std::span<pollfd> files, std::chrono::milliseconds longest) {
  if (!control_) return world_.clock.Poll(files, stop_.Timeout(longest));
  const std::uint64_t end_ns =
      world_.clock.MonotonicNs() +
      static_cast<std::uint64_t>(std::chrono::nanoseconds(longest).count());
  for (std::uint64_t now_ns = 0; now_ns < end_ns;) {
    const std::chrono::nanoseconds left(end_ns - std::min(end_ns, world_.clock.MonotonicNs()));
    const auto timeout = stop_.Timeout(std::chrono::ceil<std::chrono::milliseconds>(left));
    files.front().fd = control_->poll_fd();
    TRY_ASSIGN(const int ready, world_.clock.Poll(files, control_->Timeout(timeout)));
    const int commands = files.front().fd >= 0 && files.front().revents != 0 ? 1 : 0;
    TRY(control_->Run());
    if (ready > commands || control_->wants_round() || stop_.IsMet()) return ready;
    now_ns = world_.clock.MonotonicNs();
  }
  return 0;
}

}  // namespace perftape::record
