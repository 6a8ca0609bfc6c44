// SPDX-License-Identifier: Apache-2.0
// Collects the files that the samples of a finished recording of perf or perftape hit, as far as
// this machine still has them. Compares each file with what was recorded about it.
#pragma once

#include <cstdint>
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

// Which files without a build id are used, if the recording has no build id for them either.
enum class Unidentified : std::uint8_t {
  // Those with the recorded device and inode, on the host of the recording, that were not changed
  // since its first sample (st_ctime). The recording must have HOSTNAME, CLOCK_DATA and
  // SAMPLE_TIME.
  kUseIfUnchanged,
  kUseByPath,
};

struct RecordedRoots {
  std::filesystem::path root = "/";  // the root of the recorded paths
  // Build-id caches, as ~/.debug.
  std::vector<std::filesystem::path> caches = {};
  KernelRoots kernel = {};
  Unidentified unidentified = Unidentified::kUseIfUnchanged;
};

// Reads all records and fills `files` and `jit`. Uses binaries at their recorded paths or in the
// caches if they have the recorded build id, and as roots.unidentified says, those at their paths
// if neither recording nor file has a build id. Uses the symbols of the running kernel if it is the
// recorded kernel and boot, by build id and reference address. Otherwise returns the system that
// the recording describes. Returns the errors of reading the recording.
Result<std::optional<bundle::Manifest>> CollectRecordedHits(const perfdata::Reader& reader,
                                                            const RecordedRoots& roots,
                                                            HitFiles& files, JitFiles& jit);

}  // namespace perftape::record
