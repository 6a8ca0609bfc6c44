// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/others_files.h"

#include <utility>

#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "record/machine/clock.h"
#include "record/processes/process_context.h"
#include "record/symbols/local_files.h"

namespace perftape::record {
namespace {

OpenedFile DuplicateOf(const OpenedFile& opened) {
  return {.outcome = opened.outcome,
          .status = opened.status,
          .is_copy = opened.is_copy,
          .file = Duplicate(opened.file.get())};
}

OpenedFile OpenHere(const FileRequest& request, const UniqueFd& path_only) {
  OpenedFile opened = Examine(request, path_only);
  if (opened.outcome != FileOutcome::kOpened) return opened;
  Result<UniqueFd> file = ReopenRegularFile(path_only, request.path);
  if (file) {
    opened.file = *std::move(file);
  } else {
    opened.outcome = FileOutcome::kUnreachable;
  }
  return opened;
}

// A link of /proc/PID/map_files leads to the file itself: no file system is asked for it.
bool IsMapFile(const std::string& path) {
  return path.starts_with("/proc/") && path.contains("/map_files/");
}

}  // namespace

OthersFiles::OthersFiles(FileService service)
    : service_(std::move(service)), start_ns_(MonotonicNs()) {}

Result<std::shared_ptr<OthersFiles>> OthersFiles::Start(std::function<Status()> confine) {
  TRY_ASSIGN(FileService service,
             FileService::Start(std::move(confine), symbol_limits::kCopiedFile));
  return std::make_shared<OthersFiles>(std::move(service));
}

OpenedFile OthersFiles::OpenMapped(std::uint32_t pid, const std::filesystem::path& path,
                                   const perfdata::Dso& dso) {
  return Open({.pid = pid, .path = path.native(), .device = dso.device, .inode = dso.inode},
              dso.path, "device " + std::to_string(dso.device));
}

OpenedFile OthersFiles::OpenPath(const std::filesystem::path& path) {
  return Open({.path = path.native()}, path.native(), "path " + path.parent_path().native());
}

OpenedFile OthersFiles::OpenWithin(std::uint32_t pid, const std::filesystem::path& root,
                                   const std::string& path) {
  return Open({.pid = pid, .path = path, .root = root.native()}, path, "root " + root.native());
}

OpenedFile OthersFiles::Open(const FileRequest& request, const std::string& name,
                             const std::string& key) {
  if (!service_) return OpenHere(request, OpenPathOnly(request));
  if (IsMapFile(request.path)) {
    const UniqueFd path_only = OpenPathOnly(request);
    if (!path_only) return {};
    if (IsLocalFileOf(request.pid, path_only.get())) return OpenHere(request, path_only);
  }
  const std::lock_guard lock(service_mutex_);
  if (std::optional<OpenedFile> copy = FindCopy(request)) return *std::move(copy);
  return AskFor(request, name, key);
}

OpenedFile OthersFiles::AskFor(const FileRequest& request, const std::string& name,
                               const std::string& key) {
  const std::uint64_t most_waited_ns = kFirstWaitNs + (MonotonicNs() - start_ns_) / 10;
  if (service_->waited_ns() > most_waited_ns || silent_.contains(key) ||
      silent_.size() >= kMostSilent) {
    Tell(name, "not read, because its file system or others did not answer in time");
    return {.outcome = FileOutcome::kNoAnswer};
  }
  std::optional<OpenedFile> opened = service_->Ask(request, kAnswer);
  if (!opened) {
    silent_.insert(key);
    Tell(name, "its file system did not answer within 1 s");
    return {.outcome = FileOutcome::kNoAnswer};
  }
  if (opened->outcome == FileOutcome::kTooLarge) {
    Tell(name, MoreThanIsRead(opened->size(), symbol_limits::kCopiedFile) +
                   " from a file system that is not local");
  }
  if (opened->is_copy && opened->file) KeepCopy(request, *opened);
  return *std::move(opened);
}

std::optional<OpenedFile> OthersFiles::FindCopy(const FileRequest& request) {
  if (request.inode == 0) return std::nullopt;
  const auto found = copies_.find({request.device, request.inode, request.path});
  if (found == copies_.end()) return std::nullopt;
  return DuplicateOf(found->second);
}

// The recorder asks several times for one binary: for its table, its build id, and its symbols.
void OthersFiles::KeepCopy(const FileRequest& request, const OpenedFile& opened) {
  if (request.inode == 0 || opened.size() > symbol_limits::kAllCopiedFiles - copied_bytes_) return;
  copied_bytes_ += opened.size();
  copies_.insert_or_assign({request.device, request.inode, request.path}, DuplicateOf(opened));
}

std::optional<std::vector<std::byte>> OthersFiles::ReadContextOf(std::uint32_t pid) {
  if (!service_) {
    auto context = ReadProcessContext("/proc", pid);
    return context ? std::optional(*std::move(context)) : std::nullopt;
  }
  const std::lock_guard lock(service_mutex_);
  if (silent_processes_ >= kMostSilent) return std::nullopt;
  const auto answer = service_->Ask({.pid = pid, .is_process_context = true}, kAnswer);
  if (!answer) {
    ++silent_processes_;
    Tell("process " + std::to_string(pid), "its memory did not answer within 1 s");
  }
  if (!answer || !answer->file) return std::nullopt;
  const auto text = ReadToEnd(answer->file.get(), "OTEL_CTX", answer->size());
  if (!text) return std::nullopt;
  const Bytes bytes = AsBytes(*text);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void OthersFiles::Tell(const std::string& path, std::string_view problem) {
  std::string text = path + ": " + std::string(problem);
  const std::lock_guard lock(told_mutex_);
  if (told_.contains(text)) return;
  if (told_.size() == kMostTold) {
    ++untold_;
    return;
  }
  told_.insert(std::move(text));
}

std::vector<std::string> OthersFiles::told() const {
  const std::lock_guard lock(told_mutex_);
  std::vector<std::string> told(told_.begin(), told_.end());
  if (untold_ > 0)
    told.push_back("the same happened to " + std::to_string(untold_) + " other files");
  return told;
}

}  // namespace perftape::record
