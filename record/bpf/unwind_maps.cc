// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/unwind_maps.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

namespace perftape::record {

template <class Element>
Status MappedUnwindMaps::Map(const UnwindMapFile& file, std::span<Element>& elements) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (file.elements * sizeof(Element) + page - 1) / page * page;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, /*offset=*/0);
  if (address == MAP_FAILED) return FailErrno("mapping the memory for unwind tables", errno);
  mapped_.emplace_back(static_cast<std::byte*>(address), bytes);
  elements = {static_cast<Element*>(address), file.elements};
  return {};
}

Result<MappedUnwindMaps> MappedUnwindMaps::Map(const UnwindMapFiles& files, std::size_t cpus) {
  MappedUnwindMaps mapped;
  mapped.cpus_ = cpus;
  TRY(mapped.Map(files.cells, mapped.maps_.cells));
  TRY(mapped.Map(files.rules, mapped.maps_.rules));
  TRY(mapped.Map(files.tables, mapped.maps_.tables));
  TRY(mapped.Map(files.mappings, mapped.maps_.mappings));
  TRY(mapped.Map(files.processes, mapped.maps_.processes));
  TRY(mapped.Map(files.counts, mapped.counts_));
  return mapped;
}

MappedUnwindMaps& MappedUnwindMaps::operator=(MappedUnwindMaps&& other) noexcept {
  std::swap(maps_, other.maps_);
  std::swap(counts_, other.counts_);
  std::swap(cpus_, other.cpus_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

MappedUnwindMaps::~MappedUnwindMaps() {
  for (const std::span<std::byte> bytes : mapped_) munmap(bytes.data(), bytes.size());
}

std::uint64_t MappedUnwindMaps::CountOf(std::uint32_t event, std::size_t index) const {
  const std::size_t first = event * cpus_;
  if (first + cpus_ > counts_.size()) return 0;
  std::uint64_t sum = 0;
  for (wire_unwind_counts& counts : counts_.subspan(first, cpus_)) {
    const std::atomic_ref<unsigned long long> count(counts.ends[index]);
    sum += count.load(std::memory_order_relaxed);
  }
  return sum;
}

ChainEnds MappedUnwindMaps::EndsOf(std::uint32_t event) const {
  ChainEnds ends = {};
  for (std::size_t end = 0; end < ends.size(); ++end) ends[end] = CountOf(event, end);
  return ends;
}

std::uint64_t MappedUnwindMaps::DerivedOf(std::uint32_t event) const {
  return CountOf(event, WIRE_CHAINS_DERIVED);
}

}  // namespace perftape::record
