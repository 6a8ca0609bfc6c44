// SPDX-License-Identifier: Apache-2.0
// The BPF maps with unwind tables (bpf/unwind_wire.h) in this process's memory. They are written
// without system calls, because the kernel skips samples during bpf(2).
#pragma once

#include <linux/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpf/unwind_wire.h"
#include "formats/base/result.h"

namespace perftape::record {

// Borrowed memory: of BPF maps, or of a test.
struct UnwindMaps {
  std::span<wire_unwind_cell> cells;
  std::span<wire_unwind_rule> rules;
  std::span<wire_unwind_table> tables;
  std::span<wire_unwind_mapping> mappings;
  std::span<std::uint64_t> processes;  // WIRE_UNWIND_PROCESSES
};

// How often call chains of an event ended in each way; the index is enum wire_unwind_end.
using ChainEnds = std::array<std::uint64_t, WIRE_ENDS>;

// A BPF array that was created with BPF_F_MMAPABLE.
struct UnwindMapFile {
  int fd = -1;
  std::size_t elements = 0;
};

struct UnwindMapFiles {
  UnwindMapFile cells, rules, tables, mappings, processes, counts;
};

// Owns the mappings. The descriptors may be closed. Threads may read the counts while one of them
// writes the maps.
class MappedUnwindMaps {
 public:
  // `cpus` is the number of possible CPUs.
  static Result<MappedUnwindMaps> Map(const UnwindMapFiles& files, std::size_t cpus);

  MappedUnwindMaps() = default;
  MappedUnwindMaps(MappedUnwindMaps&& other) noexcept { *this = std::move(other); }
  MappedUnwindMaps& operator=(MappedUnwindMaps&& other) noexcept;
  ~MappedUnwindMaps();

  const UnwindMaps& maps() const { return maps_; }
  // Returns the counts of all CPUs until now.
  ChainEnds EndsOf(std::uint32_t event) const;
  // Returns how many of these chains have a frame whose rule was derived from instructions.
  std::uint64_t DerivedOf(std::uint32_t event) const;

 private:
  // A count of wire_unwind_counts, of all CPUs.
  std::uint64_t CountOf(std::uint32_t event, std::size_t index) const;
  template <class Element>
  Status Map(const UnwindMapFile& file, std::span<Element>& elements);

  UnwindMaps maps_;
  std::span<wire_unwind_counts> counts_;
  std::size_t cpus_ = 0;
  std::vector<std::span<std::byte>> mapped_;
};

}  // namespace perftape::record
