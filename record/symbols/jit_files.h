// SPDX-License-Identifier: Apache-2.0
// What JIT compilers write for profilers: /tmp/perf-PID.map, and the jit-PID.dump that a process
// maps so that a profiler sees it. Both are found as the process sees its files (a container has a
// /tmp of its own, and a pid of its own), and taken only where the process's own user wrote them
// and nobody else could have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"
#include "formats/perfdata/address_space.h"

namespace perftape::record {

struct JitFile {
  bundle::BundledFile about;  // with the reason in `missing` where it was refused
  UniqueFd file;
};

// Not thread-safe.
class JitFiles {
 public:
  // `root` is where files of processes that are gone are looked for.
  JitFiles(std::filesystem::path proc, std::filesystem::path root)
      : proc_(std::move(proc)), root_(std::move(root)) {}

  // A sample of the process hit code that a JIT may have made. The first times its map is looked
  // for, and kept open when it is there.
  void Hit(std::uint32_t pid);
  // The process mapped a file of which perfdata::IsJitDumpPath.
  void Mapped(std::uint32_t pid, const perfdata::Region& region);

  // The maps of the processes that were hit, and the dumps of these; by pid. Processes without any
  // are not among them.
  std::vector<JitFile> Take() &&;

 private:
  struct Process {
    std::uint32_t own_pid = 0;  // as it knows itself, within its pid namespace; 0 if unknown
    std::int64_t user = -1;     // effective; -1 where it was gone before it could be asked
    std::uint64_t hits = 0;
    UniqueFd map;
    std::string refused;  // why the map that is there was not taken
    struct Dump {
      std::string path;
      UniqueFd file;
      std::string refused;
    };
    std::vector<Dump> dumps;
  };

  Process& Meet(std::uint32_t pid);
  void FindMap(std::uint32_t pid, Process& process) const;
  // Opens a file as the process sees it; where the process is gone, as we do.
  UniqueFd OpenAsSeenBy(std::uint32_t pid, const std::string& path) const;

  std::filesystem::path proc_, root_;
  std::map<std::uint32_t, Process> processes_;
};

}  // namespace perftape::record
