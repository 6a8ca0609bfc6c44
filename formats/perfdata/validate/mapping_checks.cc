// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/mapping_checks.h"

#include <fmt/core.h>

#include "formats/perfdata/mapping_name.h"

namespace perftape::perfdata {
namespace {

constexpr std::size_t kLongestComm = 15;  // TASK_COMM_LEN without the NUL

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
                [&] { return fmt::format("COMM has a name of {} characters", comm->comm.size()); });
  }
}

template <class Map>
void MappingChecks::CheckMap(const RecordView& record, const Map& map) {
  if (map.length == 0) {
    report_.Add(Rule::kMmapEmpty, record,
                [&] { return fmt::format("the mapping at {:#x} has length 0", map.start); });
  } else if (map.length - 1 > ~std::uint64_t{0} - map.start) {
    report_.Add(Rule::kMmapOverflow, record, [&] {
      return fmt::format("the mapping at {:#x} has {:#x} bytes", map.start, map.length);
    });
  }
  if (record.cpumode() != CpuMode::kKernel || !map.filename.starts_with(kKernelMappingName)) return;
  if (map.filename.size() == kKernelMappingName.size()) {
    report_.Add(Rule::kKernelMmapReference, record, [&] {
      return fmt::format("the name \"{}\" contains no reference symbol", map.filename);
    });
  } else if (map.page_offset == 0) {
    report_.Add(Rule::kKernelMmapReference, record, [] {
      return std::string("the page offset is 0: kptr_restrict hid the kernel's addresses");
    });
  }
}

void MappingChecks::CheckBuildId(const RecordView& record, std::string_view path,
                                 const BuildId& id) {
  const auto listed = ids_.find(path);
  if (id.empty() || listed == ids_.end() || listed->second.empty() || id.Matches(listed->second)) {
    return;
  }
  report_.Add(Rule::kBuildIdDiffers, record, [&] {
    return fmt::format("{} has the build id {}, but {} in BUILD_ID", path, id.hex(),
                       listed->second.hex());
  });
}

}  // namespace perftape::perfdata
