// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_series.h"

#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "record/monotonic_clock.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kCheckNs = 1'000'000'000;  // between two checks of the limits
// Room for the end of a file: its last counts and its features.
constexpr std::uint64_t kEndOfFileBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMostWarnings = 8;

std::uint64_t RealtimeNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::string HostName() {
  utsname system = {};
  if (::uname(&system) != 0) return "localhost";
  return std::string(static_cast<const char*>(system.nodename));
}

}  // namespace

Result<std::unique_ptr<FileSeries>> FileSeries::Prepare(FileSeriesOptions options) {
  Result<NamePattern> pattern = NamePattern::Parse(options.pattern, HostName());
  if (!pattern) return Fail(InContext(options.pattern.native(), std::move(pattern).error()));
  std::optional<CommandRunner> commands;
  if (!options.command.empty()) {
    TRY_ASSIGN(CommandRunner started, CommandRunner::Start(options.command, options.signals));
    commands.emplace(std::move(started));
  }
  return std::unique_ptr<FileSeries>(
      new FileSeries(std::move(options), *std::move(pattern), std::move(commands)));
}

FileSeries::FileSeries(FileSeriesOptions options, NamePattern pattern,
                       std::optional<CommandRunner> commands)
    : options_(std::move(options)), names_(std::move(pattern)), commands_(std::move(commands)) {}

std::filesystem::path FileSeries::NextPath() {
  return names_.Next(RealtimeNs());
}

std::filesystem::path FileSeries::PeekPath() const {
  return FileNames(names_).Next(RealtimeNs());
}

void FileSeries::Add(EndedFile ended) {
  ++added_;
  finisher_.Add(std::move(ended));
}

bool FileSeries::Collect() {
  std::vector<CompletedFile> completed = finisher_.Completed();
  const bool has_any = !completed.empty();
  AddCompleted(std::move(completed));
  if (commands_) sums_.failed_commands += commands_->CountFailed();
  return has_any;
}

void FileSeries::AddCompleted(std::vector<CompletedFile> files) {
  for (CompletedFile& file : files) {
    ++sums_.files;
    sums_.bytes += file.bytes;
    if (file.path.empty()) {
      gone_samples_ += file.samples;
      if (file.failure.empty())
        file.failure = file.requested_path.native() + ": was deleted while it was written";
    } else {
      if (sums_.first.empty()) sums_.first = file.path;
      sums_.last = file.path;
      RunCommand(file.path);
    }
    last_failure_ = file.failure;
    last_samples_ = file.path.empty() ? 0 : file.samples;
    if (!file.failure.empty()) Warn(std::move(file.failure));
    for (std::string& warning : file.warnings) Warn(std::move(warning));
    if (file.bundle) last_bundle_ = std::move(file.bundle);
    if (!file.bundle_failure.empty()) bundle_failure_ = std::move(file.bundle_failure);
  }
}

void FileSeries::RunCommand(const std::filesystem::path& file) {
  if (!commands_) return;
  if (const Status started = commands_->Run(file); !started) {
    Warn("--exec-on-switch: " + started.error().message);
  }
}

void FileSeries::Warn(std::string warning) {
  if (warnings_.size() < kMostWarnings) warnings_.push_back(std::move(warning));
}

bool FileSeries::HasRoom(std::uint64_t bytes) const {
  const Result<std::uint64_t> free = FreeSpace(names_.pattern().directory());
  return !free || *free >= options_.reserved_space + kEndOfFileBytes + bytes;
}

void FileSeries::MakeRoom(std::uint64_t bytes) {
  if (options_.reserved_space == 0 || HasRoom(bytes)) return;
  const Result<std::vector<KeptFile>> files = ListFiles(names_.pattern());
  if (!files) return;
  for (const KeptFile& file : *files) {
    if (DeleteFile(names_.pattern(), file)) ++sums_.deleted;
    if (HasRoom(bytes)) return;
  }
}

void FileSeries::DeleteIfDue(std::uint64_t now_ns) {
  if ((options_.keep.bytes || options_.keep.age) && now_ns >= next_check_ns_) {
    DeleteOldFiles(now_ns);
  }
}

void FileSeries::DeleteOldFiles(std::uint64_t now_ns) {
  next_check_ns_ = now_ns + kCheckNs;
  if (!options_.keep.any()) return;
  const Result<std::vector<KeptFile>> files = ListFiles(names_.pattern());
  if (!files) return;
  for (const std::size_t index : FilesToDelete(*files, options_.keep, RealtimeNs())) {
    if (DeleteFile(names_.pattern(), (*files)[index])) ++sums_.deleted;
  }
}

void FileSeries::End(std::uint64_t now_ns, RecordSummary& summary) {
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
