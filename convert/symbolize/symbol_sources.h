// SPDX-License-Identifier: Apache-2.0
// All places that names may be taken from, in their order, for all the profiles of a run: what was
// opened for one is there for the next.
//
//   the recording's own bundle, and the one that was given
//   symfs: the recording machine's files at their paths below a directory
//   kallsyms and vmlinux, for the kernel
//   directories by build id: those that were given, ~/.debug, debuginfod's cache, /usr/lib/debug
//   this machine, where it made the recording since it was booted (this_boot.h), or where asked to
//
// Where a build id was recorded it is compared, whatever the place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/jit_files.h"
#include "convert/symbolize/recording.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/symbolize.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"

namespace perftape::symbolize {

// One that names are in: the path by which the recording knows it, and its build id.
struct SymbolFile {
  std::string path;
  bundle::FileKind kind = bundle::FileKind::kElf;
  BuildId build_id;
};

// Is given each of them once or more, without bytes where it was not found. These live for the
// call.
using SymbolFileSink = std::function<Status(const SymbolFile&, std::optional<Bytes>)>;

// What became of a profile's binaries, debug files, vdsos and kernel.
struct CacheReport {
  std::uint64_t copied = 0;
  std::uint64_t there = 0;             // in the cache before
  std::vector<std::string> not_found;  // names with build ids
};

struct SharedSources;

class SymbolSources {
 public:
  // An Error where `options` names a file that cannot be read, or a directory that is none.
  static Result<SymbolSources> Open(const SymbolOptions& options);

  SymbolSources(SymbolSources&&) noexcept;
  SymbolSources& operator=(SymbolSources&&) noexcept;
  ~SymbolSources();

  // Where the dumps and maps of just-in-time compilers may be taken from, for `recording`.
  JitSearchPath JitFilesOf(Recording& recording) const;

  // The profile with names, those of `recording`. Adds to `report`.
  convert::Profile Name(const convert::Profile& profile, Recording recording,
                        SymbolizeReport& report);

  // Hands on what was found of the profile's binaries and its kernel, as far as their build ids
  // were recorded. Fails where `sink` does.
  Status Collect(const convert::Profile& profile, Recording& recording, const SymbolFileSink& sink);

  // Copies what was found of the profile's binaries and its kernel, as far as their build ids were
  // recorded, into `directory`, laid out as perf's ~/.debug. What is there stays. kIo, kPermission
  // where it cannot be written.
  Result<CacheReport> FillCache(const convert::Profile& profile, Recording recording,
                                const std::filesystem::path& directory);

 private:
  explicit SymbolSources(std::unique_ptr<SharedSources> shared);
  std::unique_ptr<SharedSources> shared_;
};

// The same for one profile alone.
Result<convert::Profile> SymbolizeFrom(const convert::Profile& profile,
                                       const SymbolOptions& options, Recording recording,
                                       SymbolizeReport& report);

}  // namespace perftape::symbolize
