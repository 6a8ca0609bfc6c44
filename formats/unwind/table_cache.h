// SPDX-License-Identifier: Apache-2.0
// Tables of binaries with a build id, built once and saved in the cache
// (formats/elf/index_cache.h).
//
//   const TableCache tables(elf::UsualIndexCache());
//   TRY_ASSIGN(const Table table, tables.Load(file));
#pragma once

#include <filesystem>

#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/index_cache.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

// Threads may share it.
class TableCache {
 public:
  // Without a directory, all tables are built.
  explicit TableCache(std::filesystem::path directory);

  // Returns the saved table of `file`, or builds the table, and saves it if that is worth it. The
  // table does not need the file. Returns the errors of Table::Build. A table that reaches one of
  // `limits` is not saved.
  Result<Table> Load(const elf::ElfFile& file, const TableLimits& limits = {}) const;

 private:
  bool is_used_;
  elf::IndexCache cache_;
};

}  // namespace perftape::unwind
