// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapped_binaries.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "formats/base/symbol_limits.h"
#include "formats/elf/index_cache.h"

namespace perftape::record {

// The maps have no room for more rows.
MappedBinaries::MappedBinaries(const UnwindMaps& maps, KnownBinaries& known, OthersFiles& files,
                               const UnmappedLimits& unmapped_limits)
    : cache_(elf::UsualIndexCache()),
      store_(maps),
      known_(known),
      files_(files),
      reader_(files, cache_),
      unmapped_limits_(unmapped_limits) {
  limits_.rows = std::min(limits_.rows, maps.cells.size());
}

// A binary without a table was compiled with frame pointers, if its chains are to be complete.
void MappedBinaries::Store(const perfdata::Dso& dso, std::shared_ptr<const BinaryContents> contents,
                           std::uint64_t now_ns) {
  changed_table_bytes_ += contents->table_bytes();
  if (!contents->limit_reached.empty()) {
    files_.Tell(dso.path, "its unwind table is incomplete: " + contents->limit_reached);
  }
  if (contents->table_bytes() > symbol_limits::kAllTables - table_bytes_) {
    files_.Tell(dso.path, "its unwind table is not kept: those of all binaries have more than " +
                              std::to_string(symbol_limits::kAllTables) + " bytes");
    // Its table stays unknown.
    binaries_[&dso] = {.contents = std::make_shared<BinaryContents>(), .last_use = ++uses_};
    return;
  }
  table_bytes_ += contents->table_bytes();
  known_.Add(dso, contents);
  Binary& binary = binaries_[&dso];
  binary.table = WIRE_UNWIND_BY_FP;
  if (contents->table) {
    binary.table = store_.Add(*contents->table, now_ns).value_or(WIRE_UNWIND_UNKNOWN);
  }
  binary.contents = std::move(contents);
  binary.last_use = ++uses_;
}

void MappedBinaries::ReadAll(std::span<const Mapping> mappings, std::uint64_t now_ns,
                             const std::atomic<bool>& stop) {
  unwind::TableLimits limits = limits_;
  limits.stop = &stop;
  Read(mappings, limits, Incomplete::kKept, now_ns);
}

void MappedBinaries::ReadAllSmall(std::span<const Mapping> mappings, std::uint64_t now_ns,
                                  const std::atomic<bool>& stop) {
  unwind::TableLimits limits = LimitsOfSmall(limits_.rows);
  limits.stop = &stop;
  Read(mappings, limits, Incomplete::kLeftOut, now_ns);
}

// One mapping of each binary that was not read, those first that most mappings have: there may be
// no time for all.
std::vector<const MappedBinaries::Mapping*> MappedBinaries::UnreadOf(
    std::span<const Mapping> mappings) const {
  struct Unread {
    const Mapping* first = nullptr;
    std::size_t mappings = 0;
  };
  std::unordered_map<const perfdata::Dso*, std::size_t> numbers;
  std::vector<Unread> unread;
  for (const Mapping& mapping : mappings) {
    const perfdata::Dso* const dso = mapping.region.dso;
    if (binaries_.contains(dso)) continue;
    const auto [number, is_new] = numbers.emplace(dso, unread.size());
    if (is_new) unread.push_back({.first = &mapping});
    ++unread[number->second].mappings;
  }
  std::ranges::stable_sort(unread, std::greater(), &Unread::mappings);
  std::vector<const Mapping*> first;
  for (const Unread& binary : unread) first.push_back(binary.first);
  return first;
}

void MappedBinaries::Read(std::span<const Mapping> mappings, const unwind::TableLimits& limits,
                          Incomplete incomplete, std::uint64_t now_ns) {
  const std::vector<const Mapping*> unread = UnreadOf(mappings);
  std::vector<std::shared_ptr<const BinaryContents>> contents(unread.size());
  std::atomic<std::size_t> next = 0;
  const std::atomic<bool>& stop = *limits.stop;
  const auto read = [&] {
    for (std::size_t i = next++; i < unread.size() && !stop; i = next++) {
      contents[i] = reader_.Read(unread[i]->pid, unread[i]->region, limits).value_or(nullptr);
      // What was stopped is read whole by ReadNext.
      const bool is_kept = incomplete == Incomplete::kKept && !stop;
      if (!is_kept && contents[i] && !contents[i]->limit_reached.empty()) contents[i].reset();
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
    Waiting*& waiting = waiting_[region.dso];
    if (waiting == nullptr) waiting = &unread_.emplace_back();
    waiting->push_back(mapping);
    return wire;
  }
  Binary& binary = found->second;
  binary.last_use = ++uses_;
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

void MappedBinaries::Release(const perfdata::Dso& dso, const Binary& binary, std::uint64_t now_ns) {
  if (binary.table < WIRE_UNWIND_UNKNOWN) store_.Forget(binary.table, now_ns);
  table_bytes_ -= binary.contents->table_bytes();
  changed_table_bytes_ += binary.contents->table_bytes();
  known_.Remove(dso);
}

// A binary that does not fit leaves the room to smaller ones that were mapped before it.
void MappedBinaries::ForgetUnmapped(const std::unordered_set<const perfdata::Dso*>& mapped,
                                    std::uint64_t now_ns) {
  std::vector<std::pair<std::uint64_t, const perfdata::Dso*>> unmapped;
  for (auto& [dso, binary] : binaries_) {
    if (mapped.contains(dso)) {
      binary.last_use = ++uses_;
    } else {
      unmapped.emplace_back(binary.last_use, dso);
    }
  }
  std::ranges::sort(unmapped, std::greater());
  std::uint64_t bytes = 0;
  std::size_t kept = 0;
  for (const auto& [use, dso] : unmapped) {
    const auto found = binaries_.find(dso);
    const std::uint64_t size = found->second.contents->table_bytes();
    if (kept < unmapped_limits_.binaries && size <= unmapped_limits_.table_bytes - bytes) {
      bytes += size;
      ++kept;
      continue;
    }
    Release(*dso, found->second, now_ns);
    binaries_.erase(found);
  }
}

std::shared_ptr<const BinaryContents> MappedBinaries::ReadOneOf(
    const Waiting& mappings, const unwind::TableLimits& limits) const {
  for (const Mapping& mapping : mappings) {
    auto contents = reader_.Read(mapping.pid, mapping.region, limits);
    if (contents) return *std::move(contents);
  }
  return nullptr;
}

std::vector<std::uint32_t> MappedBinaries::ReadNext(std::uint64_t now_ns,
                                                    const std::atomic<bool>& stop) {
  const bool is_small = !unread_.empty();
  unwind::TableLimits limits = is_small ? LimitsOfSmall(limits_.rows) : limits_;
  limits.stop = &stop;
  std::list<Waiting>& queue = is_small ? unread_ : large_;
  if (queue.empty()) return {};
  const auto contents = ReadOneOf(queue.front(), limits);
  if (stop) return {};
  if (is_small && contents && !contents->limit_reached.empty()) {
    large_.splice(large_.end(), unread_, unread_.begin());
    return {};
  }
  const Waiting mappings = std::move(queue.front());
  queue.pop_front();
  waiting_.erase(mappings.front().region.dso);
  if (!contents) return {};
  Store(*mappings.front().region.dso, contents, now_ns);
  std::vector<std::uint32_t> processes;
  for (const Mapping& ready : mappings) processes.push_back(ready.pid);
  return processes;
}

}  // namespace perftape::record
