// SPDX-License-Identifier: Apache-2.0
#include "record/output/rotation.h"

#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "record/monotonic_clock.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// Room for the end of a file: its last counts and its features.
constexpr std::uint64_t kEndOfFileBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMostWarnings = 8;

std::uint64_t RealtimeNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecondNs +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::string HostName() {
  utsname system = {};
  if (::uname(&system) != 0) return "localhost";
  return std::string(static_cast<const char*>(system.nodename));
}

}  // namespace

Result<std::unique_ptr<Rotation>> Rotation::Prepare(const RecordOptions& options) {
  Result<NamePattern> pattern = NamePattern::Parse(options.output, HostName());
  if (!pattern) return Fail(InContext(options.output.native(), std::move(pattern).error()));
  std::optional<CommandRunner> commands;
  if (const std::string& command = options.rotation->exec_on_switch; !command.empty()) {
    TRY_ASSIGN(CommandRunner started, CommandRunner::Start(command, options.command_signals));
    commands.emplace(std::move(started));
  }
  return std::unique_ptr<Rotation>(new Rotation(options, *std::move(pattern), std::move(commands)));
}

Rotation::Rotation(const RecordOptions& options, NamePattern pattern,
                   std::optional<CommandRunner> commands)
    : options_(options),
      rotation_(*options.rotation),
      names_(std::move(pattern)),
      commands_(std::move(commands)),
      finisher_(options.reserved_space) {}

std::filesystem::path Rotation::NextPath() {
  return names_.Next(RealtimeNs());
}

void Rotation::Start() {
  if (rotation_.request != nullptr) (void)rotation_.request->Consume();
  if (!rotation_.switch_interval) return;
  next_switch_ns_ = MonotonicNs() + static_cast<std::uint64_t>(rotation_.switch_interval->count());
}

int Rotation::poll_fd() const {
  return rotation_.request == nullptr ? -1 : rotation_.request->poll_fd();
}

std::chrono::milliseconds Rotation::UntilSwitch(std::chrono::milliseconds longest) const {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  if (next_switch_ns_ == 0) return longest;
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t left_ms =
      now_ns < next_switch_ns_ ? (next_switch_ns_ - now_ns) / kNsPerMs : 0;
  return std::min(longest, std::chrono::milliseconds(left_ms + 1));
}

bool Rotation::HasRoom(std::uint64_t bytes) const {
  const Result<std::uint64_t> free = FreeSpace(names_.pattern().directory());
  return !free || *free >= options_.reserved_space + kEndOfFileBytes + bytes;
}

void Rotation::MakeRoom(const RecordingOutput& output) {
  if (options_.reserved_space == 0 || HasRoom(output.uncommitted_bytes())) return;
  const Result<std::vector<KeptFile>> files = ListFiles(names_.pattern());
  if (!files) return;
  for (const KeptFile& file : *files) {
    if (DeleteFile(names_.pattern(), file)) ++sums_.deleted;
    if (HasRoom(output.uncommitted_bytes())) return;
  }
}

void Rotation::Suspend(RecordingOutput& output, const Error& error) {
  failure_ = error.message;
  ++sums_.suspensions;
  finisher_.Add(output.EndFile(RecordingOutput::Successor::kFollows));
  retry_ns_ = MonotonicNs() + kSecondNs;
}

void Rotation::AfterRound(RecordingOutput& output, std::uint64_t limit_ns) {
  const std::uint64_t now_ns = MonotonicNs();
  std::vector<CompletedFile> completed = finisher_.Completed();
  bool has_changed = !completed.empty();
  AddCompleted(std::move(completed));
  if (commands_) sums_.failed_commands += commands_->CountFailed();
  if (now_ns >= retry_ns_) {
    if (output.is_suspended()) {
      Resume(output, limit_ns, now_ns);
    } else if (IsDue(output, now_ns)) {
      Switch(output, now_ns);
      has_changed = true;
    }
  }
  const bool is_check_due =
      (rotation_.keep.bytes || rotation_.keep.age) && now_ns >= next_check_ns_;
  if (has_changed || is_check_due) DeleteOldFiles(now_ns);
}

bool Rotation::IsDue(const RecordingOutput& output, std::uint64_t now_ns) {
  if (rotation_.request != nullptr && rotation_.request->Consume()) is_requested_ = true;
  const bool is_time = next_switch_ns_ != 0 && now_ns >= next_switch_ns_;
  const bool is_full = rotation_.switch_bytes && output.samples_in_file() > 0 &&
                       output.size() >= *rotation_.switch_bytes;
  return is_requested_ || is_time || is_full;
}

// If the next file cannot be created, the old one continues, and a second later it is tried again.
void Rotation::Switch(RecordingOutput& output, std::uint64_t now_ns) {
  Result<EndedFile> ended = output.NextFile(NextPath());
  if (!ended) {
    if (warnings_.size() < kMostWarnings) {
      warnings_.push_back(ended.error().message + ": the next file begins later");
    }
    retry_ns_ = now_ns + kSecondNs;
    return;
  }
  is_requested_ = false;
  finisher_.Add(*std::move(ended));
  if (next_switch_ns_ == 0) return;
  const auto interval_ns = static_cast<std::uint64_t>(rotation_.switch_interval->count());
  next_switch_ns_ += ((now_ns - std::min(now_ns, next_switch_ns_)) / interval_ns + 1) * interval_ns;
}

void Rotation::Resume(RecordingOutput& output, std::uint64_t limit_ns, std::uint64_t now_ns) {
  retry_ns_ = now_ns + kSecondNs;
  MakeRoom(output);
  if (!HasRoom(0)) return;
  if (const Status resumed = output.Resume(NextPath(), limit_ns); !resumed) {
    failure_ = resumed.error().message;
    return;
  }
  retry_ns_ = 0;
}

void Rotation::AddCompleted(std::vector<CompletedFile> files) {
  for (CompletedFile& file : files) {
    ++sums_.files;
    sums_.bytes += file.bytes;
    if (file.path.empty()) {
      gone_samples_ += file.samples;
      file.failure = file.requested_path.native() + ": was deleted while it was written";
    } else {
      if (sums_.first.empty()) sums_.first = file.path;
      sums_.last = file.path;
      RunCommand(file.path);
    }
    if (!file.failure.empty() && warnings_.size() < kMostWarnings) {
      warnings_.push_back(std::move(file.failure));
    }
    if (file.bundle) last_bundle_ = std::move(file.bundle);
    if (!file.bundle_failure.empty()) bundle_failure_ = std::move(file.bundle_failure);
  }
}

void Rotation::RunCommand(const std::filesystem::path& file) {
  if (!commands_) return;
  if (const Status started = commands_->Run(file); !started && warnings_.size() < kMostWarnings) {
    warnings_.push_back("--exec-on-switch: " + started.error().message);
  }
}

void Rotation::DeleteOldFiles(std::uint64_t now_ns) {
  next_check_ns_ = now_ns + kSecondNs;
  if (!rotation_.keep.any()) return;
  const Result<std::vector<KeptFile>> files = ListFiles(names_.pattern());
  if (!files) return;
  for (const std::size_t index : FilesToDelete(*files, rotation_.keep, RealtimeNs())) {
    if (DeleteFile(names_.pattern(), (*files)[index])) ++sums_.deleted;
  }
}

void Rotation::End(RecordingOutput& output, RecordSummary& summary) {
  const std::uint64_t now_ns = MonotonicNs();
  if (output.is_suspended()) Resume(output, now_ns, now_ns);
  if (output.is_suspended()) {
    summary.failure = failure_;
  } else {
    finisher_.Add(output.EndFile(RecordingOutput::Successor::kNone));
  }
  AddCompleted(finisher_.WaitForAll());
  if (commands_) sums_.failed_commands += commands_->WaitForAll();
  DeleteOldFiles(now_ns);
  summary.bytes_written = sums_.bytes;
  summary.file = sums_.last;
  summary.samples -= std::min(summary.samples, gone_samples_);
  summary.lost_samples += gone_samples_;
  summary.bundle = std::move(last_bundle_);
  summary.bundle_failure = bundle_failure_;
  for (std::string& warning : warnings_) summary.warnings.push_back(std::move(warning));
  summary.rotation = sums_;
}

}  // namespace perftape::record
