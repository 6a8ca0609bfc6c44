// SPDX-License-Identifier: Apache-2.0
#include "record/processes/targets.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "record/processes/proc_snapshot.h"

namespace perftape::record {
namespace {

constexpr const char* kProc = "/proc";

bool IsReadable(int fd) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 1;
}

bool ThreadExists(pid_t tid) {
  struct stat status = {};
  return stat(fmt::format("{}/{}", kProc, tid).c_str(), &status) == 0;
}

}  // namespace

Result<Targets> Targets::Resolve(const Target& target, std::optional<pid_t> command) {
  Targets targets;
  if (std::holds_alternative<WholeSystem>(target)) return targets;
  targets.processes_.emplace();
  if (const auto* processes = std::get_if<ProcessTrees>(&target)) {
    TRY(targets.ResolveProcesses(*processes));
  } else if (const auto* threads = std::get_if<Threads>(&target)) {
    TRY(targets.ResolveThreads(*threads));
  } else {
    if (!command) return Fail(ErrorCode::kInvalidArgument, "no command to record");
    TRY(targets.ResolveCommand(*command, std::get<Workload>(target).inherit));
  }
  return targets;
}

Status Targets::ResolveCommand(pid_t command, Inherit inherit) {
  is_command_ = true;
  if (inherit == Inherit::kNo) return ResolveThreads({{command}});
  filter_.command = command;
  AddProcess(static_cast<std::uint32_t>(command));
  return {};
}

Status Targets::ResolveProcesses(const ProcessTrees& target) {
  for (const pid_t pid : target.pids) {
    // A direct system call: only glibc 2.36 and later have a wrapper.
    UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd && errno == ESRCH) {
      return Fail(ErrorCode::kNotFound, fmt::format("process {}: No such process", pid));
    }
    if (!pidfd) return FailErrno(fmt::format("process {}", pid), errno);
    pidfds_.push_back(std::move(pidfd));
    AddProcess(static_cast<std::uint32_t>(pid));
    if (target.inherit == Inherit::kNo) continue;
    TRY_ASSIGN(const std::vector<std::uint32_t> descendants,
               Descendants(kProc, static_cast<std::uint32_t>(pid)));
    for (const std::uint32_t descendant : descendants) AddProcess(descendant);
  }
  if (target.inherit == Inherit::kNo) {
    TRY_ASSIGN(const std::vector<std::uint32_t> all, ThreadsOf(kProc, *processes_));
    threads_.assign(all.begin(), all.end());
    filter_.threads = threads_;
    return {};
  }
  for (const std::uint32_t pid : *processes_) {
    filter_.processes.push_back(static_cast<pid_t>(pid));
  }
  return {};
}

Status Targets::ResolveThreads(const Threads& target) {
  for (const pid_t tid : target.tids) {
    TRY_ASSIGN(const std::uint32_t pid, ProcessOf(kProc, static_cast<std::uint32_t>(tid)));
    AddProcess(pid);
  }
  threads_ = target.tids;
  filter_.threads = target.tids;
  return {};
}

Result<RecordedThreads> Targets::FindThreads() const {
  if (!processes_) {
    return Fail(ErrorCode::kInvalidArgument, "the whole system is not recorded by threads");
  }
  TRY_ASSIGN(const std::vector<std::uint32_t> all, ThreadsOf(kProc, *processes_));
  RecordedThreads threads;
  threads.followed.assign(all.begin(), all.end());
  threads.sampled = threads_.empty() ? threads.followed : threads_;
  if (!threads_.empty()) threads.inherit = Inherit::kNo;
  threads.from_exec = is_command_;
  return threads;
}

void Targets::AddProcess(std::uint32_t pid) {
  if (std::ranges::find(*processes_, pid) == processes_->end()) processes_->push_back(pid);
}

bool Targets::Gone() const {
  if (pidfds_.empty() && threads_.empty()) return false;
  return std::ranges::all_of(pidfds_, [](const UniqueFd& fd) { return IsReadable(fd.get()); }) &&
         std::ranges::none_of(threads_, ThreadExists);
}

}  // namespace perftape::record
