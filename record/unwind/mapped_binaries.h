// SPDX-License-Identifier: Apache-2.0
// The binaries that processes map, opened as the process sees them, and their unwind tables. A
// binary is read once, however many processes map it. It is kept for a while when no process maps
// it any more, because many programs run again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/perfdata/address_space.h"
#include "formats/unwind/table_cache.h"
#include "record/bpf/unwind_maps.h"
#include "record/unwind/binary_contents.h"
#include "record/unwind/table_store.h"

namespace perftape::record {

// How much is kept of the binaries that no process maps.
struct UnmappedLimits {
  std::uint64_t table_bytes = std::uint64_t{32} << 20;
  std::size_t binaries = 256;
};

// Not thread-safe.
class MappedBinaries {
 public:
  // Adds what it reads to `known`. Reports to `files` which limits binaries reached. Both must
  // outlive this object, like the memory of `maps`.
  MappedBinaries(const UnwindMaps& maps, KnownBinaries& known, OthersFiles& files,
                 const UnmappedLimits& unmapped_limits = {});

  struct Mapping {
    std::uint32_t pid = 0;
    perfdata::Region region;
  };
  // Reads the binaries of these mappings, on several threads, until `stop` is true. The others wait
  // for ReadNext as soon as WireMapping meets them.
  void ReadAll(std::span<const Mapping> mappings, std::uint64_t now_ns,
               const std::atomic<bool>& stop);
  // The same, of binaries whose tables are made at once. Others are left out.
  void ReadAllSmall(std::span<const Mapping> mappings, std::uint64_t now_ns,
                    const std::atomic<bool>& stop);

  // Returns how the BPF programs unwind code in a mapping. If its binary was not read yet, the
  // mapping has no table, and the binary waits for ReadNext. The Dso must live while UsesDso.
  wire_unwind_mapping WireMapping(const Mapping& mapping);

  bool has_unread() const { return !unread_.empty() || !large_.empty(); }
  // Reads one of the binaries that wait, if there is one, those with much call frame information
  // last. Returns the processes for whose mappings WireMapping now returns a table. Ends early once
  // `stop` is true.
  std::vector<std::uint32_t> ReadNext(std::uint64_t now_ns, const std::atomic<bool>& stop);

  // The memory of all tables that were read until now, and of all that were forgotten.
  std::uint64_t changed_table_bytes() const { return changed_table_bytes_; }
  // Whether the binary was read and not forgotten, or waits to be read.
  bool UsesDso(const perfdata::Dso& dso) const {
    return binaries_.contains(&dso) || waiting_.contains(&dso);
  }
  // Forgets binaries that are not in `mapped`, which no process maps any more, those first that
  // were not mapped for the longest time, until the others are within the limits: their files are
  // closed, and their tables leave the maps.
  void ForgetUnmapped(const std::unordered_set<const perfdata::Dso*>& mapped, std::uint64_t now_ns);

  TableStore& tables() { return store_; }

 private:
  struct Binary {
    std::shared_ptr<const BinaryContents> contents;
    std::uint32_t table = WIRE_UNWIND_UNKNOWN;
    std::uint64_t last_use = 0;  // the value of uses_ when a process had it mapped
  };
  // The mappings of one binary.
  using Waiting = std::vector<Mapping>;

  std::vector<const Mapping*> UnreadOf(std::span<const Mapping> mappings) const;
  // What happens to a table that reached a limit.
  enum class Incomplete { kKept, kLeftOut };
  void Read(std::span<const Mapping> mappings, const unwind::TableLimits& limits,
            Incomplete incomplete, std::uint64_t now_ns);
  // Forgets a binary of binaries_, which is erased next.
  void Release(const perfdata::Dso& dso, const Binary& binary, std::uint64_t now_ns);
  void Store(const perfdata::Dso& dso, std::shared_ptr<const BinaryContents> contents,
             std::uint64_t now_ns);
  std::shared_ptr<const BinaryContents> ReadOneOf(const Waiting& mappings,
                                                  const unwind::TableLimits& limits) const;

  unwind::TableCache cache_;
  TableStore store_;
  KnownBinaries& known_;
  OthersFiles& files_;
  BinaryReader reader_;
  unwind::TableLimits limits_;
  UnmappedLimits unmapped_limits_;
  std::uint64_t table_bytes_ = 0, changed_table_bytes_ = 0, uses_ = 0;
  std::unordered_map<const perfdata::Dso*, Binary> binaries_;
  // In the order in which they were mapped.
  std::list<Waiting> unread_, large_;
  std::unordered_map<const perfdata::Dso*, Waiting*> waiting_;  // both lists
};

}  // namespace perftape::record
