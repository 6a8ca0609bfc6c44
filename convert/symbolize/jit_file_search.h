// SPDX-License-Identifier: Apache-2.0
// The files in which just-in-time compilers name their code: perf-PID.map and jit-PID.dump. Files
// in a bundle or below --symfs were given by the user, and are trusted. On this machine anybody can
// create such a file, and the number in its name may mean another process: of another pid
// namespace, or one that had the number before or has it now. If the recorded process still runs,
// its file is in its root under its own number, belongs to its user or to root, and is not older
// than the process. If it has ended, the file belongs to root or to the current user, is not older
// than the process as far as recorded, and the process was in this pid namespace. Nobody else may
// be able to write the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/bundle.h"
#include "formats/perfdata/process_lives.h"

namespace perftape::symbolize {

// The search paths for such files, in this order.
struct JitSearchPath {
  std::vector<std::shared_ptr<const bundle::Bundle>> bundles = {};
  std::filesystem::path symfs = {};  // empty: none
  std::string not_local = {};  // why files of this machine must not be used; empty if they may
  std::filesystem::path local_root = "/";
  std::filesystem::path proc = "/proc";
  perfdata::ProcessLives lives = {};  // of the recorded processes, as far as known
};

struct FoundJitFile {
  Bytes bytes;  // valid as long as the keeper
  std::shared_ptr<const void> keeper;
  std::string source;  // where it was found, for messages
  // The number of its process in its own pid namespace; 0 unless it is a file of this machine.
  std::uint32_t own_pid = 0;
};

// Finds the perf map of a process. `pid` is the recorded number; a process in a container may use
// another number in the file name. Fails with kNotFound if there is none, otherwise with the error
// of the existing file. Both messages name the search paths.
Result<FoundJitFile> FindPerfMap(std::uint32_t pid, const JitSearchPath& search_path);

// Finds the jitdump that a process had mapped from `path`.
Result<FoundJitFile> FindJitDump(std::string_view path, std::uint32_t pid,
                                 const JitSearchPath& search_path);

// Returns whether this machine may have a perf map of the process, under the number that it has.
bool MayHavePerfMap(std::uint32_t pid);

}  // namespace perftape::symbolize
