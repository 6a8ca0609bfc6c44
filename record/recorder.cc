// SPDX-License-Identifier: Apache-2.0
#include "record/recorder.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "record/machine/loaded_bpf_programs.h"
#include "record/machine/monotonic_clock.h"
#include "record/output/initial_state.h"
#include "record/processes/executable.h"
#include "record/recording.h"

namespace perftape::record {

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

Status Recording::Begin() {
  // Before all threads and descriptors.
  TRY_ASSIGN(files_, OthersFiles::Start(options_.drop_privileges));
  options_.output.bundle.others = files_;
  TRY_ASSIGN(path_, FirstPath());
  TRY_ASSIGN(const OutputTarget output, ResolveOutput(path_));
  TRY(StartCommand(output));
  TRY_ASSIGN(input_,
             EventInput::Open(options_.input,
                              command_ ? std::optional(command_->pid()) : std::optional<pid_t>(),
                              *files_, summary_.warnings));
  if (flight_) TRY(flight_->Bind(input_->events()));
  TRY(OpenOutput(output));
  TRY(StartSampling());
  // An error before this line leaves an earlier recording with this name unchanged.
  TRY(output_->Publish());
  if (options_.on_published) options_.on_published();
  if (rotation_) rotation_->Start();
  if (flight_) flight_->Start(*output_);
  return {};
}

Result<std::filesystem::path> Recording::FirstPath() {
  if (options_.flight) {
    TRY_ASSIGN(flight_, FlightRecorder::Prepare(options_));
    return flight_->PeekPath();
  }
  if (!options_.rotation) return options_.output.file;
  TRY_ASSIGN(rotation_, Rotation::Prepare(options_));
  return rotation_->NextPath();
}

Status Recording::RunToTheEnd() {
  if (options_.drop_privileges) TRY(options_.drop_privileges());
  do {
    // Records after this time wait for the next round, because older ones may still arrive in rings
    // that were already drained.
    TRY(Flush(MonotonicNs()));
    if (options_.on_progress) {
      options_.on_progress({.samples = output_->committed_samples(),
                            .lost_samples = losses_.committed_samples(),
                            .file_bytes = output_->size()});
    }
    TRY(WaitForWork());
  } while (!IsOver());
  const std::uint64_t end_ns = MonotonicNs();
  TRY(input_->Stop());
  losses_.CloseTimers(*input_, end_ns);
  return Flush(std::numeric_limits<std::uint64_t>::max());
}

// Drains the rings and commits all records up to `limit_ns`, in time order.
Status Recording::Flush(std::uint64_t limit_ns) {
  TRY(input_->Drain());
  // The file of a flight recording has all records before its trigger.
  const std::uint64_t released_ns = flight_ ? limit_ns : input_->BeforeLastExits(limit_ns);
  held_ = std::chrono::nanoseconds(limit_ns - released_ns);
  limit_ns = released_ns;
  const std::uint64_t now_ns = MonotonicNs();
  TRY(input_->ReopenOnReturnedCpus(now_ns));
  TRY(losses_.AddNewLosses(*input_, std::min(limit_ns, now_ns)));
  TRY(input_->Release(limit_ns, *output_));
  if (governor_) {
    if (const auto divisor = governor_->Check(now_ns, OwnCpuNs())) input_->SampleOneIn(*divisor);
  }
  return Commit(limit_ns);
}

// Commits the records up to `limit_ns`. A rotating recording survives a full disk, and begins its
// next file here, because all records that follow are younger. No file begins at the end.
Status Recording::Commit(std::uint64_t limit_ns) {
  const bool is_last = limit_ns == std::numeric_limits<std::uint64_t>::max();
  const bool is_seam = rotation_ && rotation_->IsDue(*output_, MonotonicNs());
  if (!is_last && !is_seam && !output_->IsCommitDue(limit_ns)) return {};
  TRY(output_->EndInterval());
  if (rotation_) rotation_->MakeRoom(*output_);
  Status committed = output_->CommitRound();
  if (committed || rotation_) losses_.MarkCommitted();
  if (committed) committed = output_->Sync();
  if (!committed) {
    if (!rotation_) return committed;
    rotation_->Suspend(*output_, committed.error());
  }
  if (rotation_ && !is_last) rotation_->AfterRound(*output_, limit_ns);
  if (flight_ && !is_last) flight_->AfterRound(*output_);
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

Status Recording::OpenOutput(const OutputTarget& output) {
  const std::vector<BpfProgram> programs = LoadedBpfPrograms();
  TRY_ASSIGN(output_, RecordingOutput::Open(options_, path_, output, *input_, programs,
                                            stop_.token(), summary_.warnings));
  output_->SetNotes([this] { return NotesSoFar(); });
  SnapshotContent content = {.data_mappings = options_.input.stack_bytes != 0,
                             .namespaces = options_.input.scope.namespaces};
  if (command_) content.before_exec = static_cast<std::uint32_t>(command_->pid());
  TRY_ASSIGN(const std::vector<std::byte> initial_state,
             EncodeInitialState(input_->events(), input_->targets(), input_->scope(), content,
                                programs, summary_.warnings));
  return output_->WriteInitialState(initial_state);
}

Status Recording::StartSampling() {
  TRY(input_->Start());
  losses_.Start(*input_, MonotonicNs());
  if (options_.max_cpu) governor_.emplace(*options_.max_cpu, MonotonicNs(), OwnCpuNs());
  if (command_) {
    if (Status released = command_->Release(); !released) {
      return CommandFailed(std::move(released).error());
    }
  }
  if (options_.duration) stop_.StartTimer(*options_.duration);
  return {};
}

std::unexpected<Error> Recording::CommandFailed(Error error) {
  summary_.command_failure = error.message;
  summary_.command_status = ExitStatusOfFailedExec(error.code);
  return Fail(std::move(error));
}

bool Recording::IsOver() {
  if (stop_.IsMet()) {
    if (!stop_.token().stop_requested()) end_ = End::kDurationOver;
    return true;
  }
  if (input_->targets().Gone()) {
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
  const int request_fd = rotation_ ? rotation_->poll_fd() : flight_ ? flight_->poll_fd() : -1;
  pollfd wait_for[] = {
      {.fd = stop_.poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = command_ ? command_->pidfd() : -1, .events = POLLIN, .revents = 0},
      {.fd = request_fd, .events = POLLIN, .revents = 0},
      {.fd = input_->sample_poll_fd(), .events = POLLIN, .revents = 0},
      {.fd = input_->sideband_poll_fd(), .events = POLLIN, .revents = 0},
  };
  // The first poll does not include the rings: those of process events stay readable after their
  // CPU is gone.
  const auto pause = std::min(kShortestPause, options_.flush_interval);
  // What the last flush has held back is committed a flush interval after it was recorded.
  const auto held = std::chrono::ceil<std::chrono::milliseconds>(held_);
  const auto interval = std::max(pause, options_.flush_interval - held);
  const auto until_flush = rotation_ ? rotation_->UntilSwitch(interval) : interval;
  int ready = poll(wait_for, 3, stop_.TimeoutMs(std::min(pause, until_flush)));
  if (ready == 0) {
    ready = poll(wait_for, std::size(wait_for), stop_.TimeoutMs(until_flush));
  }
  if (ready < 0 && errno != EINTR) return FailErrno("poll", errno);
  return {};
}

}  // namespace perftape::record
