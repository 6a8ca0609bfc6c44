// SPDX-License-Identifier: Apache-2.0
// The events of caches (PERF_TYPE_HW_CACHE), with perf's names (tools/perf/util/evsel.c,
// evsel__hw_cache): "LLC-load-misses", and its aliases such as "L2-read-miss".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::record {

struct CacheEvent {
  std::string name;
  std::uint64_t config = 0;  // cache | operation << 8 | result << 16
};

// Returns each event once, by its first name.
std::vector<CacheEvent> CacheEvents();

// Returns the config of an event by any of its names: CACHE[-OPERATION][-RESULT]. The default is an
// access by a load.
std::optional<std::uint64_t> CacheConfigOf(std::string_view name);

}  // namespace perftape::record
