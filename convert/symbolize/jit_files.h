// SPDX-License-Identifier: Apache-2.0
// The files in which just-in-time compilers name their code: perf-PID.map and jit-PID.dump. Those
// that a bundle or --symfs brings along are what the user gave. On this machine anybody may put one
// there, so only one that belongs to root, to who runs this, or to who runs the process counts, and
// only if nobody else may write to it.
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

// Where such files may be taken from, in this order.
struct JitSearchPath {
  std::vector<std::shared_ptr<const bundle::Bundle>> bundles = {};
  std::filesystem::path symfs = {};  // empty: none
  std::string not_local = {};  // why none of this machine's is of the recording; empty: they are
  std::filesystem::path local_root = "/";
};

struct JitFile {
  Bytes bytes;  // live as long as the keeper
  std::shared_ptr<const void> keeper;
  std::string source;  // where it was found, for people
};

// The map of a process, by the number that the recording has for it; it may call itself otherwise,
// in a container. kNotFound where there is none, else what was wrong with the one that is there;
// either message says where it was looked for.
Result<JitFile> FindPerfMap(std::uint32_t pid, const JitSearchPath& search_path);

// The dump that a process had mapped from `path`.
Result<JitFile> FindJitDump(std::string_view path, std::uint32_t pid,
                            const JitSearchPath& search_path);

// A file of this machine that process `pid` has written, if it may be trusted; kPermission with the
// reason if not.
Result<JitFile> OpenTrusted(const std::filesystem::path& path, std::uint32_t pid);

}  // namespace perftape::symbolize
