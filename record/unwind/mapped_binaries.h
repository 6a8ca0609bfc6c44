// SPDX-License-Identifier: Apache-2.0
// The binaries that processes map, opened as the process sees them, and their unwind tables. A
// binary is read once, however many processes map it.
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

// Not thread-safe.
class MappedBinaries {
 public:
  // Adds what it reads to `known`. Tells `files` which limits binaries reached. Both must outlive
  // this object, like the memory of `maps`.
  MappedBinaries(const UnwindMaps& maps, KnownBinaries& known, OthersFiles& files);

  struct Mapping {
    std::uint32_t pid = 0;
    perfdata::Region region;
  };
  // Reads the binaries of these mappings, on several threads, until `stop` is true. The others wait
  // for ReadNext as soon as WireMapping meets them.
  void ReadAll(std::span<const Mapping> mappings, std::uint64_t now_ns,
               const std::atomic<bool>& stop);

  // Returns how the BPF programs unwind code in a mapping. If its binary was not read yet, the
  // mapping has no table, and the binary waits for ReadNext. The Dso must live as long as this
  // object.
  wire_unwind_mapping WireMapping(const Mapping& mapping);

  bool has_unread() const { return !unread_.empty() || !large_.empty(); }
  // Reads one of the binaries that wait, if there is one, those with much call frame information
  // last. Returns the processes for whose mappings WireMapping now returns a table. Ends early once
  // `stop` is true.
  std::vector<std::uint32_t> ReadNext(std::uint64_t now_ns, const std::atomic<bool>& stop);

  // The binaries that were read and not forgotten.
  std::size_t size() const { return binaries_.size(); }
  // The memory of their tables.
  std::uint64_t table_bytes() const { return table_bytes_; }
  // Forgets the binaries that are not in `mapped`, which no process maps any more: their files are
  // closed, and their tables leave the maps.
  void KeepOnly(const std::unordered_set<const perfdata::Dso*>& mapped, std::uint64_t now_ns);

  TableStore& tables() { return store_; }

 private:
  struct Binary {
    std::shared_ptr<const BinaryContents> contents;
    std::uint32_t table = WIRE_UNWIND_UNKNOWN;
  };
  // The mappings of one binary.
  using Waiting = std::vector<Mapping>;

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
  std::uint64_t table_bytes_ = 0;
  std::unordered_map<const perfdata::Dso*, Binary> binaries_;
  // In the order in which they were mapped.
  std::list<Waiting> unread_, large_;
  std::unordered_map<const perfdata::Dso*, Waiting*> waiting_;  // both lists
};

}  // namespace perftape::record
