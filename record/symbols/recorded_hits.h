// SPDX-License-Identifier: Apache-2.0
// The same for a recording that is there already, of perf or of perftape: what its samples hit, and
// what of that this machine still has. Everything is compared with what was recorded of it.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "formats/base/result.h"
#include "formats/bundle/manifest.h"
#include "formats/perfdata/reader.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/jit_files.h"
#include "record/symbols/kernel_symbols.h"

namespace perftape::record {

struct RecordedRoots {
  std::filesystem::path root = "/";  // that recorded paths begin at
  // Build-id caches, as ~/.debug.
  std::vector<std::filesystem::path> caches = {};
  KernelRoots kernel = {};
};

// Reads all records and fills the two. Binaries are taken from their recorded paths or from the
// caches, where they have the recorded build id; the kernel's symbols where it is the same kernel
// of the same boot, by build id and reference address. Otherwise returns what the recording says of
// its system. Errors are those of reading it.
Result<std::optional<bundle::Manifest>> CollectRecordedHits(const perfdata::Reader& reader,
                                                            const RecordedRoots& roots,
                                                            HitFiles& files, JitFiles& jit);

}  // namespace perftape::record
