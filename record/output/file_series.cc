// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_series.h"

#include <sys/utsname.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kCheckNs = kNsPerSecond;  // between two checks of the limits
// Room for the end of a file: its last counts and its features.
constexpr std::uint64_t kEndOfFileBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMostWarnings = 8;

std::string HostName() {
  utsname system = {};
  if (::uname(&system) != 0) return "localhost";
  return std::string(static_cast<const char*>(system.nodename));
}

}  // namespace

Result<std::unique_ptr<FileSeries>> FileSeries::Prepare(const OutputOptions& output,
                                                        const FileSeriesOptions& files,
                                                        const SignalState& signals, Clock& clock) {
  Result<NamePattern> pattern = NamePattern::Parse(output.file, HostName());
  if (!pattern) return Fail(InContext(output.file.native(), std::move(pattern).error()));
  std::optional<CommandRunner> commands;
  if (!files.exec_on_switch.empty()) {
    TRY_ASSIGN(CommandRunner started, CommandRunner::Start(files.exec_on_switch, signals));
    commands.emplace(std::move(started));
  }
  return std::unique_ptr<FileSeries>(
      new FileSeries(output, files, clock, *std::move(pattern), std::move(commands)));
}

FileSeries::FileSeries(const OutputOptions& output, const FileSeriesOptions& files, Clock& clock,
                       NamePattern pattern, std::optional<CommandRunner> commands)
    : options_(files),
      reserved_space_(output.reserved_space),
      clock_(clock),
      names_(std::move(pattern)),
      commands_(std::move(commands)) {}

std::filesystem::path FileSeries::NextPath() {
  return names_.Next(clock_.RealtimeNs());
}

std::filesystem::path FileSeries::PeekPath() const {
  return FileNames(names_).Next(clock_.RealtimeNs());
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
    // The failure of the last file is the caller's.
    if (!last_failure_.empty()) Warn(std::move(last_failure_));
    ++sums_.files;
    sums_.bytes += file.bytes;
    if (file.bundle && file.bundle->is_in_recording) sums_.bytes += file.bundle->bytes;
    const bool is_gone = file.name == CompletedFile::Name::kDeleted;
    if (is_gone) {
      gone_samples_ += file.samples;
      if (file.failure.empty())
        file.failure = file.requested_path.native() + ": was deleted while it was written";
    } else {
      if (sums_.first.empty()) sums_.first = file.path;
      sums_.last = file.path;
      RunCommand(file.path);
      if (options_.on_file) options_.on_file(file.path);
    }
    if (file.failure.empty() && !file.notes_failure.empty()) Warn(std::move(file.notes_failure));
    for (std::string& warning : file.warnings) Warn(std::move(warning));
    last_failure_ = std::move(file.failure);
    last_samples_ = is_gone ? 0 : file.samples;
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
  return !free || *free >= reserved_space_ + kEndOfFileBytes + bytes;
}

void FileSeries::MakeRoom(std::uint64_t bytes) {
  if (reserved_space_ == 0 || HasRoom(bytes)) return;
  const Result<std::vector<KeptFile>> files = ListFiles(names_.pattern());
  if (!files) return;
  for (const KeptFile& file : *files) {
    if (DeleteFile(names_.pattern(), file)) ++sums_.deleted;
    if (HasRoom(bytes)) return;
  }
}

void FileSeries::DeleteIfDue() {
  const bool has_limits = options_.keep.bytes || options_.keep.age;
  if (has_limits && clock_.MonotonicNs() >= next_check_ns_) DeleteOldFiles();
}

void FileSeries::DeleteOldFiles() {
  next_check_ns_ = clock_.MonotonicNs() + kCheckNs;
  if (!options_.keep.any()) return;
  const Result<std::vector<KeptFile>> files = ListFiles(names_.pattern());
  if (!files) return;
  for (const std::size_t index : FilesToDelete(*files, options_.keep, clock_.RealtimeNs())) {
    if (DeleteFile(names_.pattern(), (*files)[index])) ++sums_.deleted;
  }
}

OutputSummary FileSeries::End(std::vector<std::string>& warnings) {
  AddCompleted(finisher_.WaitForAll());
  if (commands_) sums_.failed_commands += commands_->WaitForAll();
  DeleteOldFiles();
  std::ranges::move(warnings_, std::back_inserter(warnings));
  return {.counts = {.gone_samples = gone_samples_},
          .bytes_written = sums_.bytes,
          .bundle = std::move(last_bundle_),
          .bundle_failure = std::move(bundle_failure_),
          .file = sums_.last,
          .failure = std::move(last_failure_),
          .rotation = sums_};
}

}  // namespace perftape::record
