// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/binary_tables.h"

#include <elf.h>

#include "formats/perfdata/mapping_name.h"
#include "formats/unwind/frame_sections.h"

namespace perftape::offline_unwind {
namespace {

using unwind::FramesBy;

// Whether the mapping holds code of no file. Compilers that generate such code keep frame pointers.
bool IsCompiledCode(const std::string& path) {
  const bool is_memory = perfdata::MayHoldJitCode(path) && !perfdata::MayHoldElfFile(path);
  return is_memory || perfdata::IsJitDumpPath(path);
}

// Whether the file has lost its code, as a debug file has: its .eh_frame is not in the file.
bool IsDebugFile(const elf::ElfFile& file) {
  const elf::Section* section = file.FindSection(".eh_frame");
  return section != nullptr && section->type == SHT_NOBITS;
}

}  // namespace

const BinaryTable& BinaryTables::TableOf(const std::string& path, const BuildId& build_id) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Entry>& known = tables_[{path, build_id}];
    if (!known) known = std::make_unique<Entry>();
    entry = known.get();
  }
  std::call_once(entry->is_loaded, [&] { entry->table = Load(path, build_id); });
  return entry->table;
}

BinaryTable BinaryTables::Load(const std::string& path, const BuildId& build_id) {
  BinaryTable built;
  if (IsCompiledCode(path)) {
    built.frames_by = FramesBy::kFramePointer;
    return built;
  }
  const Result<const elf::ElfFile*> found = [&] {
    const std::lock_guard lock(find_mutex_);
    return find_(path, build_id);
  }();
  if (!found && perfdata::MayHoldElfFile(path)) {
    built.frames_by = FramesBy::kFramePointer;
    return built;
  }
  if (!found) {
    built.problem = found.error().message;
    return built;
  }
  const elf::ElfFile& file = **found;
  Result<unwind::Table> table = cache_.Load(file);
  if (!table) {
    built.problem = table.error().message;
  } else if (!table->empty()) {
    const bool is_described = unwind::SummaryOf(file).size > 0;
    built.frames_by = is_described ? FramesBy::kTable : FramesBy::kFramePointer;
    built.table = *std::move(table);
    built.file = &file;
    built.segments.assign(file.segments().begin(), file.segments().end());
  } else if (IsDebugFile(file)) {
    built.problem = "only its debug file was found, and it has no unwind table";
  } else {
    built.frames_by = FramesBy::kFramePointer;
  }
  return built;
}

std::vector<std::string> BinaryTables::Missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> missing;
  for (const auto& [binary, entry] : tables_) {
    if (entry->table.frames_by != FramesBy::kUnknown) continue;
    missing.push_back(binary.first + ": " + entry->table.problem);
  }
  return missing;
}

}  // namespace perftape::offline_unwind
