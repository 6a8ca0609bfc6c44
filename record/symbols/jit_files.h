// SPDX-License-Identifier: Apache-2.0
// Keeps the files that JIT compilers write for profilers: /tmp/perf-PID.map, and jit-PID.dump,
// which the process maps so that a profiler sees it. Both are looked up in the root of the process
// with its own pid, because a container has its own /tmp and pids.
//
// A pid may belong to another process: one of another pid namespace, or an earlier one. Therefore a
// file that is identified only by the pid in its name is refused if it is older than the process,
// if its directory is shared with the process that has that pid in this namespace, or if the
// process is in another namespace and the file is not in its root. The owner must be the user of
// the process, or root, and nobody else may be allowed to write to the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/process_identity.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/process_lives.h"
#include "record/symbols/others_files.h"

namespace perftape::record {

struct JitFile {
  bundle::BundledFile about;  // has the reason in `missing` if it was refused
  UniqueFd file;
};

// Not thread-safe.
class JitFiles {
 public:
  // `root` has the files of processes that have ended. `since_ns` is the start of the recording,
  // since 1970: a process that had ended before it was met has no older files.
  JitFiles(std::filesystem::path proc, std::filesystem::path root, std::int64_t since_ns,
           std::shared_ptr<OthersFiles> others)
      : proc_(std::move(proc)),
        root_(std::move(root)),
        since_ns_(since_ns),
        others_(std::move(others)) {}

  // The processes are those of a finished recording, whose numbers others may have now. Call it
  // first.
  void SetLives(perfdata::ProcessLives lives) { lives_ = std::move(lives); }

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
    std::optional<ProcessIdentity> identity;  // nothing if the process had ended before
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

  // Returns the identity of the process that had this number in the recording.
  std::optional<ProcessIdentity> IdentityOf(std::uint32_t pid) const;
  Process& Meet(std::uint32_t pid);
  void FindMap(std::uint32_t pid, Process& process) const;
  // Opens a file in the root of the process, or in root_ if that is allowed.
  OpenedFile OpenAsSeenBy(std::uint32_t pid, const Process& process, const std::string& path) const;
  bool IsThere(std::uint32_t pid, const Process& process) const;
  // Return why the number in the name of the open file means another process, or why the file is
  // not trusted; empty if it is.
  std::string WhyNotItsNumber(std::uint32_t pid, const Process& process,
                              const struct stat& file) const;
  std::string WhyNot(std::uint32_t pid, const Process& process, const OpenedFile& file) const;

  std::filesystem::path proc_, root_;
  std::int64_t since_ns_ = 0;
  std::shared_ptr<OthersFiles> others_;
  std::optional<perfdata::ProcessLives> lives_;
  std::map<std::uint32_t, Process> processes_;
  std::set<std::uint32_t> recent_hits_;
};

}  // namespace perftape::record
