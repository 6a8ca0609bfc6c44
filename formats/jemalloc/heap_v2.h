// SPDX-License-Identifier: Apache-2.0
// The heap profiles of jemalloc (prof_data.c, prof_dump_impl; prof_sys.c): text with one stack of
// return addresses per line '@', and the memory that its allocations still hold, with prof_accum
// also the memory that they ever held:
//
//   heap_v2/524288
//     t*: 3: 6291456 [0: 0]
//   @ 0x55d0c1a2b3c4 0x7f2ab1b7209b
//     t*: 2: 4194304 [0: 0]
//     t0: 2: 4194304 [0: 0]
//
//   MAPPED_LIBRARIES:
//   55d0c1a00000-55d0c1b00000 r-xp 00000000 08:01 123 /srv/app
//
// "t*" is the sum of the threads. An allocation of SIZE bytes is sampled with the probability
// 1 - exp(-SIZE / RATE), where RATE is the number after "heap_v2/".
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::jemalloc {

struct HeapNumbers {
  std::int64_t objects = 0, bytes = 0;          // in use
  std::int64_t all_objects = 0, all_bytes = 0;  // ever allocated
};

struct HeapStack {
  std::vector<std::uint64_t> addresses = {};  // innermost first; return addresses
  HeapNumbers numbers = {};                   // as sampled
};

struct HeapMapping {
  std::uint64_t start = 0, limit = 0, offset = 0;
  bool is_code = false;
  std::string_view path = {};  // a view of the text
};

struct HeapFile {
  std::uint64_t rate = 0;  // bytes between two samples
  std::vector<HeapStack> stacks;
  std::vector<HeapMapping> mappings;
  std::uint64_t bad_lines = 0;
  std::uint64_t first_bad = 0;  // the number of the first one, from 1
};

bool IsHeapV2(std::string_view beginning);

// Fails with kCorrupt if the first line is not that of a heap profile.
Result<HeapFile> ReadHeapV2(std::string_view text);

// Returns the numbers that the sampled ones stand for, as jeprof and pprof compute them.
HeapNumbers Unsampled(const HeapNumbers& sampled, std::uint64_t rate);

}  // namespace perftape::jemalloc
