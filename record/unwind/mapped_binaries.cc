// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapped_binaries.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "formats/elf/index_cache.h"

namespace perftape::record {

MappedBinaries::MappedBinaries(const UnwindMaps& maps, KnownBinaries& known)
    : cache_(elf::UsualIndexCache()), store_(maps), known_(known) {}

// A binary without a table was compiled with frame pointers, if its chains are to be complete.
void MappedBinaries::Store(const perfdata::Dso& dso, std::shared_ptr<const BinaryContents> contents,
                           std::uint64_t now_ns) {
  known_.Add(dso, contents);
  Binary& binary = binaries_[&dso];
  binary.table = WIRE_UNWIND_BY_FP;
  if (contents->table) {
    binary.table = store_.Add(*contents->table, now_ns).value_or(WIRE_UNWIND_UNKNOWN);
  }
  binary.contents = std::move(contents);
}

void MappedBinaries::ReadAll(std::span<const Mapping> mappings, std::uint64_t now_ns) {
  std::unordered_map<const perfdata::Dso*, std::size_t> numbers;
  std::vector<const Mapping*> unread;
  for (const Mapping& mapping : mappings) {
    const perfdata::Dso* const dso = mapping.region.dso;
    if (binaries_.contains(dso) || !numbers.emplace(dso, unread.size()).second) continue;
    unread.push_back(&mapping);
  }
  std::vector<std::shared_ptr<const BinaryContents>> contents(unread.size());
  std::atomic<std::size_t> next = 0;
  const auto read = [&] {
    for (std::size_t i = next++; i < unread.size(); i = next++) {
      contents[i] = ReadBinary(cache_, unread[i]->pid, unread[i]->region).value_or(nullptr);
    }
  };
  constexpr std::size_t kBinariesPerThread = 8, kMostThreads = 8;
  const std::size_t threads =
      std::min({unread.size() / kBinariesPerThread, kMostThreads,
                static_cast<std::size_t>(std::thread::hardware_concurrency())});
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(read);
  read();
  for (std::thread& other : others) other.join();
  for (std::size_t i = 0; i < unread.size(); ++i) {
    if (contents[i]) Store(*unread[i]->region.dso, std::move(contents[i]), now_ns);
  }
}

wire_unwind_mapping MappedBinaries::WireMapping(const Mapping& mapping) {
  const perfdata::Region& region = mapping.region;
  wire_unwind_mapping wire = {
      .start = region.start, .end = region.end, .bias = 0, .table = WIRE_UNWIND_UNKNOWN, .pad = 0};
  const auto found = binaries_.find(region.dso);
  if (found == binaries_.end()) {
    const auto waiting = std::ranges::find_if(unread_, [&](const std::vector<Mapping>& mappings) {
      return mappings.front().region.dso == region.dso;
    });
    if (waiting != unread_.end()) {
      waiting->push_back(mapping);
    } else {
      unread_.push_back({mapping});
    }
    return wire;
  }
  const Binary& binary = found->second;
  wire.table = binary.table;
  if (binary.table >= WIRE_UNWIND_UNKNOWN) return wire;
  const std::optional<ImageAddress> image = binary.contents->StartOf(region);
  if (!image) {
    wire.table = WIRE_UNWIND_UNKNOWN;
    return wire;
  }
  wire.bias = region.start - (image->value - binary.contents->table->base().value);
  return wire;
}

void MappedBinaries::KeepOnly(const std::unordered_set<const perfdata::Dso*>& mapped,
                              std::uint64_t now_ns) {
  std::erase_if(binaries_, [&](const auto& entry) {
    const auto& [dso, binary] = entry;
    if (mapped.contains(dso)) return false;
    if (binary.table < WIRE_UNWIND_UNKNOWN) store_.Forget(binary.table, now_ns);
    known_.Remove(*dso);
    return true;
  });
}

std::vector<std::uint32_t> MappedBinaries::ReadNext(std::uint64_t now_ns) {
  if (unread_.empty()) return {};
  const std::vector<Mapping> mappings = std::move(unread_.front());
  unread_.pop_front();
  for (const Mapping& mapping : mappings) {
    auto contents = ReadBinary(cache_, mapping.pid, mapping.region);
    if (!contents) continue;
    Store(*mapping.region.dso, *std::move(contents), now_ns);
    std::vector<std::uint32_t> processes;
    for (const Mapping& ready : mappings) processes.push_back(ready.pid);
    return processes;
  }
  return {};
}

}  // namespace perftape::record
