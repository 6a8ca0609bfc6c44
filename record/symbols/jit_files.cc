// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/jit_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "formats/base/path_within.h"
#include "formats/base/regular_file.h"

namespace perftape::record {
namespace {

// The file, open for reading, or the reason why there is none.
struct Trusted {
  UniqueFd file = {};
  std::string refused = {};
};

// `path_only` must have been opened with O_PATH.
Trusted Open(const UniqueFd& path_only) {
  Result<UniqueFd> file = ReopenRegularFile(path_only, "file");
  if (!file) return {.refused = "could not be opened"};
  return {.file = *std::move(file)};
}

std::string WhyNotRegular(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "not a regular file";
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "writable by other users";
  return {};
}

std::string MapPath(std::uint32_t pid) {
  return "/tmp/perf-" + std::to_string(pid) + ".map";
}

UniqueFd Duplicate(const UniqueFd& file) {
  return UniqueFd(file ? ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

std::uint64_t SizeOf(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

std::optional<ProcessIdentity> JitFiles::IdentityOf(std::uint32_t pid) const {
  std::optional<ProcessIdentity> now = ReadProcessIdentity(proc_, pid);
  if (!now || !lives_) return now;
  const auto life = lives_->find(pid);
  if (life != lives_->end() && !life->second.CanBe(*now)) return std::nullopt;
  return now;
}

JitFiles::Process& JitFiles::Meet(std::uint32_t pid) {
  Process& process = processes_[pid];
  if (!process.identity) process.identity = IdentityOf(pid);
  return process;
}

void JitFiles::Hit(std::uint32_t pid) {
  Process& process = processes_[pid];
  ++process.hits;
  recent_hits_.insert(pid);
  // A compiler creates its map with its first code. So the map is searched at hits 1, 2, 4, 8 and
  // so on.
  if (process.map || (process.hits & (process.hits - 1)) != 0) return;
  FindMap(pid, Meet(pid));
}

void JitFiles::FindMap(std::uint32_t pid, Process& process) const {
  const std::string path = MapPath(process.identity ? process.identity->own_pid : pid);
  const UniqueFd map = OpenAsSeenBy(pid, process, path);
  struct stat status = {};
  if (!map || ::fstat(map.get(), &status) != 0) return;
  process.refused = WhyNot(pid, process, status);
  if (process.refused.empty()) process.refused = WhyNotItsNumber(pid, process, status);
  if (!process.refused.empty()) return;
  Trusted opened = Open(map);
  process.map = std::move(opened.file);
  process.refused = std::move(opened.refused);
}

bool JitFiles::IsThere(std::uint32_t pid, const Process& process) const {
  if (!process.identity) return false;
  const std::optional<ProcessIdentity> now = ReadProcessIdentity(proc_, pid);
  if (!now) return false;
  const std::int64_t difference = now->started_ns - process.identity->started_ns;
  return -kStartSlackNs <= difference && difference <= kStartSlackNs;
}

UniqueFd JitFiles::OpenAsSeenBy(std::uint32_t pid, const Process& process,
                                const std::string& path) const {
  if (IsThere(pid, process)) {
    const std::filesystem::path root = proc_ / std::to_string(pid) / "root";
    if (UniqueFd seen = OpenPathWithin(root, path)) return seen;
  }
  // In root_ the number of a process of another namespace means another process.
  if (process.identity && process.identity->is_in_other_namespace) return {};
  return OpenPathWithin(root_, path);
}

std::string JitFiles::WhyNotItsNumber(std::uint32_t pid, const Process& process,
                                      const struct stat& file) const {
  if (process.identity) {
    if (std::string reason = WhyNotSince(process.identity->started_ns, file); !reason.empty()) {
      return reason;
    }
    if (!process.identity->is_in_other_namespace) return {};
    // Its /tmp may be that of root_, where the number means another process first.
    const std::uint32_t own_pid = process.identity->own_pid;
    const UniqueFd ours = OpenPathWithin(root_, MapPath(own_pid));
    struct stat same = {};
    if (!ours || ::fstat(ours.get(), &same) != 0) return {};
    if (same.st_dev != file.st_dev || same.st_ino != file.st_ino) return {};
    const std::optional<ProcessIdentity> other = ReadProcessIdentity(proc_, own_pid);
    if (!other || other->is_kernel_thread) return {};
    return "in a directory that is shared with another process " + std::to_string(own_pid) +
           ", outside of its pid namespace";
  }
  if (lives_) {
    const auto life = lives_->find(pid);
    return life == lives_->end() ? std::string() : life->second.WhyNotItsFile(file);
  }
  if (ModifiedNs(file) >= since_ns_ - kStartSlackNs) return {};
  return "older than the recording, and its process was gone before its start was known";
}

std::string JitFiles::WhyNot(std::uint32_t pid, const Process& process,
                             const struct stat& file) const {
  if (std::string reason = WhyNotRegular(file); !reason.empty()) return reason;
  if (process.identity) return WhyNotOwnedBy(*process.identity, file);
  // Its user is unknown. Files of root and of the current user are trusted.
  if (file.st_uid == 0 || file.st_uid == ::geteuid()) return {};
  return "process " + std::to_string(pid) + " was gone before its user was known";
}

void JitFiles::Mapped(std::uint32_t pid, const perfdata::Region& region) {
  Process& process = Meet(pid);
  const std::string& path = region.dso->path;
  const bool is_known = std::ranges::any_of(
      process.dumps, [&](const Process::Dump& other) { return other.path == path; });
  if (is_known) return;
  Process::Dump dump{.path = path, .file = {}, .refused = {}};
  std::array<char, 40> range = {};
  std::snprintf(range.data(), range.size(), "%" PRIx64 "-%" PRIx64, region.start, region.end);
  const std::filesystem::path mapped = proc_ / std::to_string(pid) / "map_files" / range.data();
  UniqueFd path_only;
  if (IsThere(pid, process)) path_only = UniqueFd(::open(mapped.c_str(), O_PATH | O_CLOEXEC));
  const bool is_mapped_file = static_cast<bool>(path_only);
  if (!path_only) path_only = OpenAsSeenBy(pid, process, path);
  struct stat status = {};
  if (!path_only || ::fstat(path_only.get(), &status) != 0) {
    dump.refused = "could not be opened";
  } else if (dump.refused = WhyNot(pid, process, status); dump.refused.empty()) {
    const std::uint64_t inode = region.dso->inode;
    if (!is_mapped_file && inode != 0 && inode != status.st_ino) {
      dump.refused = "another file has its name now";
    } else if (!is_mapped_file && inode == 0) {
      dump.refused = WhyNotItsNumber(pid, process, status);
    }
  }
  if (dump.refused.empty()) {
    Trusted opened = Open(path_only);
    dump.file = std::move(opened.file);
    dump.refused = std::move(opened.refused);
  }
  process.dumps.push_back(std::move(dump));
}

JitFiles JitFiles::CopyOf(const std::set<std::uint32_t>& pids) const {
  JitFiles copy(proc_, root_, since_ns_);
  copy.lives_ = lives_;
  for (const std::uint32_t pid : pids) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) continue;
    const Process& process = found->second;
    Process& same = copy.processes_[pid];
    same.identity = process.identity;
    same.hits = process.hits;
    same.map = Duplicate(process.map);
    same.refused = process.refused;
    for (const Process::Dump& dump : process.dumps) {
      same.dumps.push_back(
          {.path = dump.path, .file = Duplicate(dump.file), .refused = dump.refused});
    }
  }
  return copy;
}

std::vector<JitFile> JitFiles::ReleaseFiles() && {
  std::vector<JitFile> files;
  const auto add = [&](bundle::FileKind kind, std::uint32_t pid, std::string path, UniqueFd file,
                       std::string refused) {
    JitFile jit{.about = {.path = std::move(path),
                          .kind = kind,
                          .build_id = {},
                          .pid = pid,
                          .missing = std::move(refused)},
                .file = {}};
    if (jit.about.missing.empty()) {
      jit.about.kept = bundle::Kept::kWhole;
      jit.about.size = SizeOf(file.get());
      jit.file = std::move(file);
    }
    files.push_back(std::move(jit));
  };
  for (auto& [pid, process] : processes_) {
    if (process.hits == 0) continue;
    if (!process.map) FindMap(pid, Meet(pid));
    if (process.map || !process.refused.empty()) {
      add(bundle::FileKind::kPerfMap, pid,
          MapPath(process.identity ? process.identity->own_pid : pid), std::move(process.map),
          std::move(process.refused));
    }
    for (Process::Dump& dump : process.dumps) {
      add(bundle::FileKind::kJitDump, pid, std::move(dump.path), std::move(dump.file),
          std::move(dump.refused));
    }
  }
  return files;
}

}  // namespace perftape::record
