// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/table_cache.h"

#include <memory>
#include <optional>
#include <utility>

#include "formats/base/truncation.h"
#include "formats/unwind/frame_sections.h"
#include "formats/unwind/saved_table.h"

namespace perftape::unwind {
namespace {

// Building a small table is faster than opening a file.
constexpr std::uint64_t kWorthSaving = 32 << 10;  // bytes of call frame information

// The entry keeps the mapping.
std::optional<Table> LoadSaved(elf::IndexCache::Entry entry, std::uint64_t fingerprint) {
  if (entry.body().empty()) return std::nullopt;
  const auto kept = std::make_shared<const elf::IndexCache::Entry>(std::move(entry));
  return DecodeTable(kept->body(), fingerprint, kept);
}

}  // namespace

TableCache::TableCache(std::filesystem::path directory)
    : is_used_(!directory.empty()), cache_(std::move(directory), elf::IndexType::kUnwindTable) {}

Result<Table> TableCache::Load(const elf::ElfFile& file, const TableLimits& limits) const {
  const FrameSectionsSummary sections = SummaryOf(file);
  if (!is_used_ || file.build_id().empty() || sections.size < kWorthSaving) {
    return Table::Build(file, limits);
  }
  if (auto saved = LoadSaved(cache_.Load(file.build_id()), sections.fingerprint)) {
    return *std::move(saved);
  }
  Result<Table> table = Table::Build(file, limits);
  // Later runs would trust an incomplete table.
  if (table && table->limit_reached().empty() && TruncatedFiles().empty()) {
    cache_.Store(file.build_id(), EncodeTable(*table, sections.fingerprint));
  }
  return table;
}

}  // namespace perftape::unwind
