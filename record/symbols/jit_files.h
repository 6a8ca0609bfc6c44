// SPDX-License-Identifier: Apache-2.0
// Keeps the files that JIT compilers write for profilers: /tmp/perf-PID.map, and jit-PID.dump,
// which the process maps so that a profiler sees it. Both are looked up in the root of the process
// with its own pid, because a container has its own /tmp and pids. A file is refused unless the
// user of the process owns it and nobody else can write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"
#include "formats/perfdata/address_space.h"

namespace perftape::record {

struct JitFile {
  bundle::BundledFile about;  // has the reason in `missing` if it was refused
  UniqueFd file;
};

// Not thread-safe.
class JitFiles {
 public:
  // `root` has the files of processes that have ended.
  JitFiles(std::filesystem::path proc, std::filesystem::path root)
      : proc_(std::move(proc)), root_(std::move(root)) {}

  // A sample of the process hit code that may be JIT code. At the first hits, looks for the perf
  // map and keeps it open.
  void Hit(std::uint32_t pid);
  // The process mapped a file for which perfdata::IsJitDumpPath is true.
  void Mapped(std::uint32_t pid, const perfdata::Region& region);

  // Returns a copy with open files of its own, of these processes only.
  JitFiles CopyOf(const std::set<std::uint32_t>& pids) const;
  // Returns the processes that were hit since the last call.
  std::set<std::uint32_t> ReleaseHits() { return std::exchange(recent_hits_, {}); }
  // Closes the files of a process.
  void Forget(std::uint32_t pid) { processes_.erase(pid); }

  // Returns the perf maps and jitdumps of the processes that were hit, by pid.
  std::vector<JitFile> ReleaseFiles() &&;

 private:
  struct Process {
    std::uint32_t own_pid = 0;  // in its own pid namespace; 0 if unknown
    std::int64_t user = -1;     // effective; -1 if the process had ended before
    std::uint64_t hits = 0;
    UniqueFd map;
    std::string refused;  // why an existing map was refused
    struct Dump {
      std::string path;
      UniqueFd file;
      std::string refused;
    };
    std::vector<Dump> dumps;
  };

  Process& Meet(std::uint32_t pid);
  void FindMap(std::uint32_t pid, Process& process) const;
  // Opens a file in the root of the process, or in root_ if the process has ended.
  UniqueFd OpenAsSeenBy(std::uint32_t pid, const std::string& path) const;

  std::filesystem::path proc_, root_;
  std::map<std::uint32_t, Process> processes_;
  std::set<std::uint32_t> recent_hits_;
};

}  // namespace perftape::record
