// SPDX-License-Identifier: Apache-2.0
// All sources of names, in the order of their use, for all profiles of a run. Files that were
// opened for one profile are reused for the next.
//
//   the recording's own bundle, and the given one
//   symfs: the recording machine's files at their paths below a directory
//   kallsyms and vmlinux, for the kernel
//   directories by build id: given ones, ~/.debug, debuginfod's cache, /usr/lib/debug
//   this machine, if it made the recording in its current boot (this_boot.h), or on request
//
// If a build id was recorded, it is always compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/jit_file_search.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/symbolize.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"
#include "formats/elf/elf_file.h"

namespace perftape::symbolize {

// A symbol file: its path in the recording, and its build id.
struct SymbolFile {
  std::string path;
  bundle::FileKind kind = bundle::FileKind::kElf;
  BuildId build_id;
};

// Receives each file once or more; no bytes if it was not found. The bytes are valid during the
// call.
using SymbolFileSink = std::function<Status(const SymbolFile&, std::optional<Bytes>)>;

// The result for a profile's binaries, debug files, vdsos and kernel.
struct CacheReport {
  std::uint64_t copied = 0;
  std::uint64_t there = 0;             // already in the cache
  std::vector<std::string> not_found;  // names with build ids
};

struct SharedSources;

class SymbolSources {
 public:
  // Fails if `options` names a file that cannot be read, or a directory that does not exist.
  static Result<SymbolSources> Open(const SymbolOptions& options);

  SymbolSources(SymbolSources&&) noexcept;
  SymbolSources& operator=(SymbolSources&&) noexcept;
  ~SymbolSources();

  // Returns the search paths for the jitdumps and perf maps of `origin`.
  JitSearchPath JitSearchPathOf(ProfileOrigin& origin) const;

  // Begins to read the symbols of the kernel of `origin` on another thread, if Name will
  // probably need them.
  void ReadKernelAhead(ProfileOrigin& origin);

  // Finds the files of a recording's binaries and vdsos, for their unwind tables. A build id is
  // empty if none was recorded. The files live as long as the function, which `origin` and this
  // object must outlive. Fails with the reason if there is no file. One thread may call it at once.
  using BinaryFinder =
      std::function<Result<const elf::ElfFile*>(const std::string& path, const BuildId& build_id)>;
  BinaryFinder BinariesOf(ProfileOrigin& origin);

  // Begins to read the names in all binaries that BinariesOf has found, on another thread. Name
  // waits for it.
  void ReadNamesAhead();

  // Returns the profile with names from the sources of `origin`. Adds to `report`.
  convert::Profile Name(const convert::Profile& profile, ProfileOrigin origin,
                        SymbolizeReport& report);

  // Passes the files of the profile's binaries and of its kernel whose build ids were recorded to
  // `sink`. Fails if `sink` does.
  Status Collect(const convert::Profile& profile, ProfileOrigin& origin,
                 const SymbolFileSink& sink);

  // Copies these files into `directory`, in the layout of perf's ~/.debug. Existing files stay.
  // Fails with kIo or kPermission if it cannot write.
  Result<CacheReport> FillCache(const convert::Profile& profile, ProfileOrigin origin,
                                const std::filesystem::path& directory);

 private:
  explicit SymbolSources(std::unique_ptr<SharedSources> shared);
  std::unique_ptr<SharedSources> shared_;
};

// The same for a single profile.
Result<convert::Profile> SymbolizeFrom(const convert::Profile& profile,
                                       const SymbolOptions& options, ProfileOrigin origin,
                                       SymbolizeReport& report);

}  // namespace perftape::symbolize
