// SPDX-License-Identifier: Apache-2.0
// The structured mutator of the perf.data fuzz targets. It changes parts of a file that flipped
// bits seldom reach, and keeps what a reader needs to continue. Bytes that are no perf.data are
// changed as plain bytes.
#pragma once

#include <cstdint>

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/record_mutations.h"

namespace perftape::fuzz {

// Whether sizes in the result may be wrong, and its end may be missing.
enum class Framing : std::uint8_t { kKept, kMayBreak };

struct MutationOptions {
  std::uint32_t seed = 0;
  std::size_t max_size = std::size_t{1} << 20;  // drops records at the end if the file is larger
  ChangeBytes change_bytes = nullptr;           // LLVMFuzzerMutate
  Framing framing = Framing::kMayBreak;
};

// Returns `file` with one to four mutations. The same options and bytes give the same result.
Buffer Mutated(Bytes file, const MutationOptions& options);

// Returns `file` with records of `other` among its own. If byte orders or containers differ,
// returns the beginning of one and the end of the other.
Buffer Crossed(Bytes file, Bytes other, const MutationOptions& options);

}  // namespace perftape::fuzz
