// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/mapping_checks.h"

#include <fmt/format.h>

#include "formats/perfdata/mapping_name.h"

namespace perftape::perfdata {
namespace {

constexpr std::size_t kLongestComm = 15;  // TASK_COMM_LEN, without the NUL

}  // namespace

MappingChecks::MappingChecks(const Reader& reader, Report& report)
    : report_(report), ids_(BuildIdTableOf(reader)) {}

void MappingChecks::Check(const RecordView& record, const Event* event) {
  if (event == nullptr) return;
  if (record.type == RecordType::kMmap) {
    if (const auto map = Decode<Mmap>(record, event->format)) CheckMap(record, *map);
  } else if (record.type == RecordType::kMmap2) {
    const auto map = Decode<Mmap2>(record, event->format);
    if (!map) return;
    CheckMap(record, *map);
    CheckBuildId(record, map->filename, map->build_id);
  } else if (record.type == RecordType::kComm) {
    const auto comm = Decode<Comm>(record, event->format);
    if (!comm || comm->comm.size() <= kLongestComm) return;
    report_.Add(Rule::kCommTooLong, record,
                [&] { return fmt::format("a name of {} characters", comm->comm.size()); });
  }
}

template <class Map>
void MappingChecks::CheckMap(const RecordView& record, const Map& map) {
  if (map.length == 0) {
    report_.Add(Rule::kMmapEmpty, record,
                [&] { return fmt::format("{} bytes at {:#x}", map.length, map.start); });
  } else if (map.length - 1 > ~std::uint64_t{0} - map.start) {
    report_.Add(Rule::kMmapOverflow, record,
                [&] { return fmt::format("{:#x} bytes at {:#x}", map.length, map.start); });
  }
  if (record.cpumode() != CpuMode::kKernel || !map.filename.starts_with(kKernelMappingName)) return;
  if (map.filename.size() == kKernelMappingName.size()) {
    report_.Add(Rule::kKernelMmapReference, record,
                [&] { return fmt::format("\"{}\" names no reference symbol", map.filename); });
  } else if (map.page_offset == 0) {
    report_.Add(Rule::kKernelMmapReference, record, [] {
      return std::string("page offset 0: the kernel's addresses were hidden (kptr_restrict)");
    });
  }
}

void MappingChecks::CheckBuildId(const RecordView& record, std::string_view path,
                                 const BuildId& id) {
  const auto told = ids_.find(path);
  if (id.empty() || told == ids_.end() || told->second.empty() || id.Matches(told->second)) {
    return;
  }
  report_.Add(Rule::kBuildIdDiffers, record, [&] {
    return fmt::format("{}: {} here, {} in BUILD_ID", path, id.hex(), told->second.hex());
  });
}

}  // namespace perftape::perfdata
