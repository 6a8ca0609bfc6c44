// SPDX-License-Identifier: Apache-2.0
// Writes the bundle of the files that samples hit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "formats/bundle/bundle_writer.h"
#include "formats/bundle/manifest.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/jit_files.h"
#include "record/symbols/kernel_symbols.h"
#include "record/symbols/others_files.h"

namespace perftape::record {

// How much of each binary is bundled.
enum class BundleDepth : std::uint8_t {
  kSymbols,  // what symbols and unwinding need
  kDebug,    // also DWARF, and separate debug files if they are found
  kWhole,
};

struct BundleSummary {
  std::uint64_t files = 0;           // in the bundle
  std::uint64_t bytes = 0;           // of the bundle
  std::uint64_t original_bytes = 0;  // of the original files
  std::vector<std::string> missing;  // "PATH: reason", in the order of hits
  bool is_in_recording = false;      // appended to the perf.data, after the bytes of its records
};

// Whether another bundle of the same binaries follows. Then slim copies are kept in unlinked files
// (HitBinary::copies), as far as the disk has room, and used again.
enum class NextBundle : std::uint8_t { kNone, kFollows };

struct BundleContents {
  const HitFiles& files;
  std::vector<JitFile> jit;
  // The recorded system, if it is not the running one.
  std::optional<bundle::Manifest> other_system = {};
  NextBundle next = NextBundle::kNone;
  OthersFiles* others = nullptr;  // opens debug files; null: this process opens them
};

// Adds `contents` to `writer` and finishes it. Lists files as missing, with the reason, if they
// cannot be read or exceed a limit (symbol_limits.h). Fails with kIo if the bundle cannot be
// written. A thread makes each slim copy while the previous one is compressed.
Result<BundleSummary> WriteBundle(BundleContents contents, BundleDepth depth,
                                  bundle::BundleWriter writer, const KernelRoots& roots = {});

}  // namespace perftape::record
