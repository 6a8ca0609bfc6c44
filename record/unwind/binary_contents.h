// SPDX-License-Identifier: Apache-2.0
// A binary as a process has mapped it, with its unwind table, and the binaries that are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "formats/base/addresses.h"
#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/perfdata/address_space.h"
#include "formats/unwind/table.h"
#include "formats/unwind/table_budget.h"
#include "formats/unwind/table_cache.h"
#include "record/symbols/others_files.h"

namespace perftape::record {

// Immutable. Threads share it.
struct BinaryContents {
  std::optional<MappedFile> file;      // owns what `elf` views
  std::optional<elf::ElfFile> elf;     // nothing: code that was compiled at run time
  std::optional<unwind::Table> table;  // nothing: its code keeps frame pointers
  std::string limit_reached;           // unwind::Table::limit_reached

  // The memory of the tables, in bytes. The pages of the file are not in memory.
  std::uint64_t table_bytes() const;

  // Returns the image address at which an executable mapping of the file starts.
  std::optional<ImageAddress> StartOf(const perfdata::Region& region) const;
};

// The limits for a binary that is read while something else waits, for example the drain of the
// rings: the bytes of its call frame information, of code without it, and of its symbol tables.
// `rows` is the number of rows for which there is room.
unwind::TableLimits LimitsOfSmall(std::size_t rows);

// Reads binaries. Threads may share it.
class BinaryReader {
 public:
  // Both must outlive this object.
  BinaryReader(OthersFiles& files, const unwind::TableCache& tables)
      : files_(files), tables_(tables) {}

  // Opens the file of a mapping as the process sees it, and reads or builds its unwind table. The
  // result is never null. Fails if the file cannot be opened; another process may give access to
  // it.
  Result<std::shared_ptr<const BinaryContents>> Read(std::uint32_t pid,
                                                     const perfdata::Region& region,
                                                     const unwind::TableLimits& limits = {}) const;

 private:
  Result<UniqueFd> OpenMapped(std::uint32_t pid, const perfdata::Region& region) const;
  void ReadTable(const unwind::TableLimits& limits, BinaryContents& contents) const;

  OthersFiles& files_;
  const unwind::TableCache& tables_;
};

// The binaries that the thread that loads tables has read, for the thread that writes the
// recording. Thread-safe.
class KnownBinaries {
 public:
  // Null if the binary was not added. Dsos of different Processes are equal by their contents.
  std::shared_ptr<const BinaryContents> Find(const perfdata::Dso& dso) const;
  void Add(const perfdata::Dso& dso, std::shared_ptr<const BinaryContents> contents);
  void Remove(const perfdata::Dso& dso);

 private:
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t, BuildId>;
  static Key KeyOf(const perfdata::Dso& dso);

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const BinaryContents>> binaries_;
};

}  // namespace perftape::record
