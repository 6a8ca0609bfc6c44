// SPDX-License-Identifier: Apache-2.0
// From what was hit to a finished bundle.
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

namespace perftape::record {

// How much of each binary goes along.
enum class BundleDepth : std::uint8_t {
  kSymbols,  // what names and unwinding need
  kDebug,    // also DWARF: of the binary, and its separate debug files where they are found
  kWhole,
};

struct BundleSummary {
  std::uint64_t files = 0;           // that are in it
  std::uint64_t bytes = 0;           // of the bundle
  std::uint64_t original_bytes = 0;  // of these files, as they were
  std::vector<std::string> missing;  // "PATH: why", by hit
};

struct BundleContents {
  const HitFiles& files;
  std::vector<JitFile> jit;
  // The system that was recorded, where it is not the one that runs now.
  std::optional<bundle::Manifest> other_system = {};
};

// Adds all of it to `writer` and finishes that. What cannot be read, or is more than is read of a
// file or for a bundle (symbol_limits.h), is missing, with the reason;
// kIo where the bundle cannot be written. Slim copies are made in a thread of their own while the
// one before is compressed.
Result<BundleSummary> WriteBundle(BundleContents contents, BundleDepth depth,
                                  bundle::BundleWriter writer, const KernelRoots& roots = {});

}  // namespace perftape::record
