// SPDX-License-Identifier: Apache-2.0
// The files in which just-in-time compilers name their code: perf-PID.map and jit-PID.dump. Files
// in a bundle or below --symfs were given by the user, and are trusted. On this machine anybody can
// create such a file. So it must belong to root, to the current user or to the user of the process.
// Nobody else may be able to write it.
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

namespace perftape::symbolize {

// The search paths for such files, in this order.
struct JitSearchPath {
  std::vector<std::shared_ptr<const bundle::Bundle>> bundles = {};
  std::filesystem::path symfs = {};  // empty: none
  std::string not_local = {};  // why files of this machine must not be used; empty if they may
  std::filesystem::path local_root = "/";
};

struct JitFile {
  Bytes bytes;  // valid as long as the keeper
  std::shared_ptr<const void> keeper;
  std::string source;  // where it was found, for messages
};

// Finds the perf map of a process. `pid` is the recorded number; a process in a container may use
// another number in the file name. Fails with kNotFound if there is none, otherwise with the error
// of the existing file. Both messages name the search paths.
Result<JitFile> FindPerfMap(std::uint32_t pid, const JitSearchPath& search_path);

// Finds the jitdump that a process had mapped from `path`.
Result<JitFile> FindJitDump(std::string_view path, std::uint32_t pid,
                            const JitSearchPath& search_path);

// Opens a file of this machine that process `pid` wrote, if it can be trusted. Otherwise fails with
// kPermission and the reason.
Result<JitFile> OpenTrusted(const std::filesystem::path& path, std::uint32_t pid);

}  // namespace perftape::symbolize
