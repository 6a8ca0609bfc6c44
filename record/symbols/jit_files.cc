// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/jit_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "formats/base/regular_file.h"
#include "record/processes/proc_files.h"

namespace perftape::record {
namespace {

// Opens a path that another process chose: with O_PATH, and only inside `root`.
UniqueFd OpenWithin(const std::filesystem::path& root, std::string_view path) {
  const UniqueFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return {};
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string name(path);
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, directory.get(), name.c_str(), &how, sizeof how)));
}

// Returns a number from "Uid:\t1000\t1001\t1000\t1000" (real, effective, saved, file system) or
// from "NSpid:\t4711\t7", whose last number is the pid in the process's own namespace
// (Documentation/filesystems/proc.rst).
std::optional<std::uint64_t> NumberOf(std::string_view status, std::string_view key,
                                      std::size_t column) {
  while (std::optional<std::string_view> line = NextLine(status)) {
    if (NextField(*line, '\t') != key) continue;
    std::string_view field;
    for (std::size_t i = 0; i <= column && !line->empty(); ++i) field = NextField(*line, '\t');
    return ParseNumber(field);
  }
  return std::nullopt;
}

// Returns why the open file is not trusted; empty if it is.
std::string WhyNot(int fd, std::int64_t user) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return "not a regular file";
  // If the process had ended before its user was read, files of root and of the current user are
  // trusted.
  if (user < 0 && (status.st_uid == 0 || status.st_uid == ::geteuid())) {
    user = static_cast<std::int64_t>(status.st_uid);
  }
  if (user < 0) return "its process was gone before its user was known";
  if (static_cast<std::int64_t>(status.st_uid) != user) {
    return "owned by user " + std::to_string(status.st_uid) + ", its process is of user " +
           std::to_string(user);
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "writable by other users";
  return {};
}

// The file, open for reading, or the reason why there is none.
struct Trusted {
  UniqueFd file = {};
  std::string refused = {};
};

// `path_only` must have been opened with O_PATH.
Trusted OpenTrusted(const UniqueFd& path_only, std::int64_t user) {
  if (std::string reason = WhyNot(path_only.get(), user); !reason.empty()) {
    return {.refused = std::move(reason)};
  }
  Result<UniqueFd> file = ReopenRegularFile(path_only, "file");
  if (!file) return {.refused = "could not be opened"};
  return {.file = *std::move(file)};
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

JitFiles::Process& JitFiles::Meet(std::uint32_t pid) {
  Process& process = processes_[pid];
  if (process.user >= 0) return process;
  const Result<std::string> status = ReadWholeFile(proc_ / std::to_string(pid) / "status");
  if (!status) return process;
  if (const auto user = NumberOf(*status, "Uid:", 1)) {
    process.user = static_cast<std::int64_t>(*user);
  }
  std::size_t levels = 0;
  for (std::string_view text = *status; auto line = NextLine(text);) {
    if (NextField(*line, '\t') == "NSpid:") {
      levels = static_cast<std::size_t>(std::ranges::count(*line, '\t'));
    }
  }
  process.own_pid = static_cast<std::uint32_t>(NumberOf(*status, "NSpid:", levels).value_or(pid));
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
  const UniqueFd map = OpenAsSeenBy(pid, MapPath(process.own_pid == 0 ? pid : process.own_pid));
  if (!map) return;
  Trusted opened = OpenTrusted(map, process.user);
  process.map = std::move(opened.file);
  process.refused = std::move(opened.refused);
}

UniqueFd JitFiles::OpenAsSeenBy(std::uint32_t pid, const std::string& path) const {
  const std::filesystem::path process = proc_ / std::to_string(pid) / "root";
  if (UniqueFd seen = OpenWithin(process, path)) return seen;
  return OpenWithin(root_, path);
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
  UniqueFd path_only(::open(mapped.c_str(), O_PATH | O_CLOEXEC));
  if (!path_only) path_only = OpenAsSeenBy(pid, path);
  if (path_only) {
    Trusted opened = OpenTrusted(path_only, process.user);
    dump.file = std::move(opened.file);
    dump.refused = std::move(opened.refused);
  } else {
    dump.refused = "could not be opened";
  }
  process.dumps.push_back(std::move(dump));
}

JitFiles JitFiles::CopyOf(const std::set<std::uint32_t>& pids) const {
  JitFiles copy(proc_, root_);
  for (const std::uint32_t pid : pids) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) continue;
    const Process& process = found->second;
    Process& same = copy.processes_[pid];
    same.own_pid = process.own_pid;
    same.user = process.user;
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
      add(bundle::FileKind::kPerfMap, pid, MapPath(process.own_pid == 0 ? pid : process.own_pid),
          std::move(process.map), std::move(process.refused));
    }
    for (Process::Dump& dump : process.dumps) {
      add(bundle::FileKind::kJitDump, pid, std::move(dump.path), std::move(dump.file),
          std::move(dump.refused));
    }
  }
  return files;
}

}  // namespace perftape::record
