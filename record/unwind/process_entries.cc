// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/process_entries.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace perftape::record {
namespace {

// The words of processes have so many bits for the first mapping.
constexpr std::size_t kMostMappings = WIRE_UNWIND_FIRST_MASK + std::size_t{1};

void PublishWord(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

std::uint64_t TgidOf(std::uint64_t word) {
  return word >> WIRE_UNWIND_TGID_SHIFT;
}

}  // namespace

ProcessEntries::ProcessEntries(const UnwindMaps& maps)
    : maps_(maps),
      arena_(static_cast<std::uint32_t>(std::min(maps.mappings.size(), kMostMappings))) {}

std::uint64_t* ProcessEntries::SlotFor(std::uint32_t tgid) {
  std::uint64_t* free = nullptr;
  for (std::uint32_t i = 0; i < WIRE_UNWIND_PROBES; ++i) {
    std::uint64_t& word = maps_.processes[(tgid + i) & (WIRE_UNWIND_PROCESSES - 1)];
    if (word != 0 && TgidOf(word) == tgid) return &word;
    if (word == 0 && free == nullptr) free = &word;
  }
  return free;
}

bool ProcessEntries::Set(std::uint32_t tgid, std::span<const wire_unwind_mapping> mappings,
                         std::uint64_t now_ns) {
  const bool fits = mappings.size() <= WIRE_UNWIND_COUNT_MASK &&
                    TgidOf(std::uint64_t{tgid} << WIRE_UNWIND_TGID_SHIFT) == tgid && tgid != 0;
  std::uint64_t* const slot = fits ? SlotFor(tgid) : nullptr;
  const auto count = static_cast<std::uint32_t>(mappings.size());
  const auto first = slot != nullptr ? arena_.Allocate(count, now_ns) : std::nullopt;
  if (!first) {
    Remove(tgid, now_ns);
    return false;
  }
  std::ranges::copy(mappings, maps_.mappings.begin() + *first);
  PublishWord(*slot, std::uint64_t{tgid} << WIRE_UNWIND_TGID_SHIFT |
                         std::uint64_t{count} << WIRE_UNWIND_COUNT_SHIFT | *first);
  Entry& entry = entries_[tgid];
  arena_.Free(entry.first, entry.count, now_ns);
  entry = {.slot = static_cast<std::uint32_t>(slot - maps_.processes.data()),
           .first = *first,
           .count = count};
  return true;
}

void ProcessEntries::Remove(std::uint32_t tgid, std::uint64_t now_ns) {
  const auto found = entries_.find(tgid);
  if (found == entries_.end()) return;
  PublishWord(maps_.processes[found->second.slot], 0);
  arena_.Free(found->second.first, found->second.count, now_ns);
  entries_.erase(found);
}

}  // namespace perftape::record
