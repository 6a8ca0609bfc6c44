// SPDX-License-Identifier: Apache-2.0
// The limits and the usage of the cgroups of recorded processes, for the notes. They are read when
// a process is first seen, about once a second, and at the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/bundle/noted_cgroups.h"
#include "record/scope/cgroup_files.h"
#include "record/scope/recorded_containers.h"

namespace perftape::record {

// Not thread-safe.
class CgroupUsage {
 public:
  // Reads the cgroups of processes in `proc`/PID/cgroup, and looks up their containers in `names`.
  CgroupUsage(std::vector<MountedController> controllers, PodNames names,
              std::filesystem::path proc = "/proc");

  // A process is recorded. Cheap; the next Check reads.
  void AddProcess(std::uint32_t pid);
  // A process was started by another one: it is in the same cgroups, also if it ends before a
  // Check.
  void AddFork(std::uint32_t pid, std::uint32_t parent);
  // Call it often. Reads the cgroups of new processes at once, and all cgroups about once a second,
  // also those that processes have moved to since. Each call reads for a few milliseconds at most.
  // `now_ns` is of CLOCK_MONOTONIC.
  void Check(std::uint64_t now_ns);
  // Reads all.
  void ReadAll(std::uint64_t now_ns);

  // Returns the cgroups that could be read, by path; the root only if it has a limit. Makes no
  // system call.
  std::vector<bundle::NotedCgroup> Noted() const;
  // Returns the containers and pods among them, by path.
  std::vector<bundle::NotedContainer> Containers() const { return containers_.Noted(); }

 private:
  struct Watched {
    bundle::NotedCgroup noted = {};
    std::uint32_t controllers = 0;  // those that have this path: bits, by index in controllers_
    bool is_read = false;
    std::unordered_set<std::uint64_t> pids = {};  // those of `noted`
    // The previous reading, for the peaks of io_limits.
    std::uint64_t before_ns = 0;
    std::vector<bundle::NotedIoLimit> before = {};

    void AddPid(std::uint32_t pid);
    void FindPeaks(std::uint64_t now_ns);
  };

  // Watches the cgroups that a process is in now. Returns false if it has ended.
  bool AddCgroupsOf(std::uint32_t pid, std::uint64_t now_ns);
  // Goes on with a round of reading, until `end`.
  void ReadProcesses(std::uint64_t now_ns, std::chrono::steady_clock::time_point end);
  void ReadCgroups(std::uint64_t now_ns, std::chrono::steady_clock::time_point end);
  // Watches a cgroup and those that it is in: they may have the limit.
  void Watch(std::string_view path, std::uint32_t controllers, std::uint32_t pid,
             std::uint64_t now_ns);
  void Read(Watched& cgroup, std::uint64_t now_ns) const;

  std::vector<MountedController> controllers_;
  std::filesystem::path proc_;
  std::map<std::string, Watched, std::less<>> cgroups_;  // by path
  RecordedContainers containers_;
  std::set<std::uint32_t> known_;  // processes that have not ended
  std::vector<std::uint32_t> new_;
  std::uint64_t read_ns_ = 0;  // when the last round of reading began
  // The process and path with which the current round continues; nothing: all were read.
  std::optional<std::uint32_t> next_process_ = {};
  std::optional<std::string> next_cgroup_ = {};
};

}  // namespace perftape::record
