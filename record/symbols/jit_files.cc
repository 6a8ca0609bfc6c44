// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/jit_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

namespace perftape::record {
namespace {

std::string WhyNotOpened(FileOutcome outcome) {
  switch (outcome) {
    case FileOutcome::kOpened:
      return {};
    case FileOutcome::kUnreachable:
      return "could not be opened";
    case FileOutcome::kReplaced:
      return "another file has its name now";
    case FileOutcome::kNotRegular:
      return "not a regular file";
    case FileOutcome::kTooLarge:
      return "too large to be copied from a file system that is not local";
    case FileOutcome::kNoAnswer:
      return "its file system did not answer in time";
  }
  return {};
}

constexpr std::uint32_t kOwnView = 0;  // FileRequest::pid

std::string MapPath(std::uint32_t pid) {
  return "/tmp/perf-" + std::to_string(pid) + ".map";
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
  OpenedFile map = OpenAsSeenBy(pid, process, path);
  if (!map.is_found() && map.outcome == FileOutcome::kUnreachable) return;
  process.refused = WhyNot(pid, process, map);
  if (process.refused.empty()) process.refused = WhyNotItsNumber(pid, process, map.status);
  if (process.refused.empty()) process.map = std::move(map.file);
}

bool JitFiles::IsThere(std::uint32_t pid, const Process& process) const {
  if (!process.identity) return false;
  const std::optional<ProcessIdentity> now = ReadProcessIdentity(proc_, pid);
  if (!now) return false;
  const std::int64_t difference = now->started_ns - process.identity->started_ns;
  return -kStartSlackNs <= difference && difference <= kStartSlackNs;
}

OpenedFile JitFiles::OpenAsSeenBy(std::uint32_t pid, const Process& process,
                                  const std::string& path) const {
  if (IsThere(pid, process)) {
    const std::filesystem::path root = proc_ / std::to_string(pid) / "root";
    OpenedFile seen = others_->OpenWithin(pid, root, path);
    if (seen.is_found() || seen.outcome != FileOutcome::kUnreachable) return seen;
  }
  // In root_ the number of a process of another namespace means another process.
  if (process.identity && process.identity->is_in_other_namespace) return {};
  return others_->OpenWithin(kOwnView, root_, path);
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
    const struct stat ours = others_->OpenWithin(kOwnView, root_, MapPath(own_pid)).status;
    if (ours.st_dev != file.st_dev || ours.st_ino != file.st_ino) return {};
    const std::optional<ProcessIdentity> other = ReadProcessIdentity(proc_, own_pid);
    if (!other || other->is_kernel_thread) return {};
    return "in a directory that is shared with another process " + std::to_string(own_pid) +
           ", outside its pid namespace";
  }
  if (lives_) {
    const auto life = lives_->find(pid);
    return life == lives_->end() ? std::string() : life->second.WhyNotItsFile(file);
  }
  if (ModifiedNs(file) >= since_ns_ - kStartSlackNs) return {};
  return "older than the recording, and its process ended before its start time was read";
}

std::string JitFiles::WhyNot(std::uint32_t pid, const Process& process,
                             const OpenedFile& file) const {
  if (std::string reason = WhyNotOpened(file.outcome); !reason.empty()) return reason;
  if ((file.status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "writable by other users";
  if (process.identity) return WhyNotOwnedBy(*process.identity, file.status);
  // Its user is unknown. Files of root and of the current user are trusted.
  if (file.status.st_uid == 0 || file.status.st_uid == ::geteuid()) return {};
  return "process " + std::to_string(pid) + " ended before its user was read";
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
  OpenedFile opened;
  perfdata::Dso any;  // the link leads to the mapped file itself
  any.path = path;
  if (IsThere(pid, process)) opened = others_->OpenMapped(pid, mapped, any);
  const bool is_mapped_file = opened.is_found() || opened.outcome != FileOutcome::kUnreachable;
  if (!is_mapped_file) opened = OpenAsSeenBy(pid, process, path);
  dump.refused = WhyNot(pid, process, opened);
  if (dump.refused.empty() && !is_mapped_file) {
    const std::uint64_t inode = region.dso->inode;
    if (inode == 0) {
      dump.refused = WhyNotItsNumber(pid, process, opened.status);
    } else if (inode != opened.status.st_ino) {
      dump.refused = WhyNotOpened(FileOutcome::kReplaced);
    }
  }
  if (dump.refused.empty()) dump.file = std::move(opened.file);
  process.dumps.push_back(std::move(dump));
}

JitFiles JitFiles::CopyOf(const std::set<std::uint32_t>& pids) const {
  JitFiles copy(proc_, root_, since_ns_, others_);
  copy.lives_ = lives_;
  for (const std::uint32_t pid : pids) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) continue;
    const Process& process = found->second;
    Process& same = copy.processes_[pid];
    same.identity = process.identity;
    same.hits = process.hits;
    same.map = Duplicate(process.map.get());
    same.refused = process.refused;
    for (const Process::Dump& dump : process.dumps) {
      same.dumps.push_back(
          {.path = dump.path, .file = Duplicate(dump.file.get()), .refused = dump.refused});
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
