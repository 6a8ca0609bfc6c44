// SPDX-License-Identifier: Apache-2.0
#include "record/events/cache_events.h"

#include <algorithm>
#include <span>

namespace perftape::record {
namespace {

// The names of a number of perf_event.h. In the list of events, an access has the first name of its
// operation, a miss the second: "LLC-loads", "LLC-load-misses".
struct CacheNames {
  std::string_view names[5];
  std::string_view operations = "";  // of a cache, the first letters of those that it has
};

// The index is the number: enum perf_hw_cache_id, _op_id and _op_result_id.
constexpr CacheNames kCaches[] = {
    {{"L1-dcache", "l1-d", "l1d", "L1-data"}, "lsp"},
    {{"L1-icache", "l1-i", "l1i", "L1-instruction"}, "lp"},
    {{"LLC", "L2"}, "lsp"},
    {{"dTLB", "d-tlb", "Data-TLB"}, "lsp"},
    {{"iTLB", "i-tlb", "Instruction-TLB"}, "l"},
    {{"branch", "branches", "bpu", "btb", "bpc"}, "l"},
    {{"node"}, "lsp"},
};
constexpr CacheNames kOperations[] = {
    {{"loads", "load", "read"}},
    {{"stores", "store", "write"}},
    {{"prefetches", "prefetch", "speculative-read", "speculative-load"}},
};
constexpr CacheNames kResults[] = {
    {{"refs", "Reference", "ops", "access"}},
    {{"misses", "miss"}},
};

// A row whose name begins a text, and what follows the name and its hyphen.
struct CacheMatch {
  std::uint64_t number = 0;
  std::string_view rest;
};

// Returns the rows that begin `text`: a name may be the beginning of another.
std::vector<CacheMatch> BeginningsOf(std::string_view text, std::span<const CacheNames> rows) {
  std::vector<CacheMatch> matches;
  for (std::uint64_t number = 0; number < rows.size(); ++number) {
    for (const std::string_view name : rows[number].names) {
      if (name.empty() || !text.starts_with(name)) continue;
      const std::string_view rest = text.substr(name.size());
      if (rest.empty()) {
        matches.push_back({number, rest});
      } else if (rest.starts_with('-') && rest.size() > 1) {
        matches.push_back({number, rest.substr(1)});
      }
    }
  }
  return matches;
}

std::uint64_t ConfigOf(std::uint64_t cache, std::uint64_t operation, std::uint64_t result) {
  return cache | operation << 8 | result << 16;
}

bool HasOperation(const CacheNames& cache, std::uint64_t operation) {
  return cache.operations.contains(kOperations[operation].names[0].front());
}

std::optional<std::uint64_t> ResultOf(std::string_view text) {
  if (text.empty()) return 0;
  for (const CacheMatch& result : BeginningsOf(text, kResults)) {
    if (result.rest.empty()) return result.number;
  }
  return {};
}

}  // namespace

std::vector<CacheEvent> CacheEvents() {
  std::vector<CacheEvent> events;
  for (std::uint64_t cache = 0; cache < std::size(kCaches); ++cache) {
    for (std::uint64_t operation = 0; operation < std::size(kOperations); ++operation) {
      if (!HasOperation(kCaches[cache], operation)) continue;
      const std::string name(kCaches[cache].names[0]);
      const auto& verbs = kOperations[operation].names;
      events.push_back({name + "-" + std::string(verbs[0]), ConfigOf(cache, operation, 0)});
      events.push_back(
          {name + "-" + std::string(verbs[1]) + "-misses", ConfigOf(cache, operation, 1)});
    }
  }
  return events;
}

std::optional<std::uint64_t> CacheConfigOf(std::string_view name) {
  constexpr std::uint64_t kLoad = 0;
  for (const CacheMatch& cache : BeginningsOf(name, kCaches)) {
    if (const auto result = ResultOf(cache.rest)) return ConfigOf(cache.number, kLoad, *result);
    for (const CacheMatch& operation : BeginningsOf(cache.rest, kOperations)) {
      const auto result = ResultOf(operation.rest);
      if (!result || !HasOperation(kCaches[cache.number], operation.number)) continue;
      return ConfigOf(cache.number, operation.number, *result);
    }
  }
  return {};
}

}  // namespace perftape::record
