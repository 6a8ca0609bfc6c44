// SPDX-License-Identifier: Apache-2.0
// The structured mutator of the perf.data fuzz targets: changes a file where a flip of bytes seldom
// gets to, and keeps what a reader needs to go on. Bytes that are no perf.data are changed as
// bytes.
#pragma once

#include <cstdint>

#include "tests/fuzz/anatomy.h"
#include "tests/fuzz/record_mutations.h"

namespace perftape::fuzz {

// Whether sizes in the result may be untrue, and its end be missing.
enum class Framing : std::uint8_t { kKept, kMayBreak };

struct MutationOptions {
  std::uint32_t seed = 0;
  std::size_t max_size = std::size_t{1} << 20;  // records are left out at the end to keep to it
  ChangeBytes change_bytes = nullptr;           // LLVMFuzzerMutate
  Framing framing = Framing::kMayBreak;
};

// `file` with one to four mutations. The same options and bytes give the same result.
Buffer Mutated(Bytes file, const MutationOptions& options);

// `file` with records of `other` among its own, or, where they are of different byte order or kind,
// with the beginning of one and the end of the other.
Buffer Crossed(Bytes file, Bytes other, const MutationOptions& options);

}  // namespace perftape::fuzz
