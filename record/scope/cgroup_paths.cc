// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroup_paths.h"

#include <optional>
#include <string_view>

#include "formats/perfdata/record.h"

namespace perftape::record {

std::string CgroupPaths::PathBelowMount(const CgroupDirectory& reported) {
  std::string_view path = reported.path;
  while (!path.empty()) {
    const Result<std::uint64_t> id = CgroupIdOf(mounted_.mount.string() + std::string(path));
    if (id && *id == reported.id) {
      outside_ = reported.path.substr(0, reported.path.size() - path.size());
      return std::string(path);
    }
    const std::size_t next = path.find('/', 1);
    path = next == std::string_view::npos ? std::string_view() : path.substr(next);
  }
  path = reported.path;
  if (path.starts_with(outside_) && path.substr(outside_.size()).starts_with('/')) {
    path.remove_prefix(outside_.size());
  }
  return std::string(path);
}

bool CgroupPaths::Rewrite(Bytes record, const perfdata::SampleFormat& format,
                          std::vector<std::byte>& rewritten) {
  const std::optional<perfdata::RecordView> view = perfdata::AsRecord(record);
  if (!view || view->type != perfdata::RecordType::kCgroup) return false;
  const Result<perfdata::Cgroup> cgroup = perfdata::Decode<perfdata::Cgroup>(*view, format);
  if (!cgroup) return false;
  const std::string path = PathBelowMount({.path = std::string(cgroup->path), .id = cgroup->id});
  rewritten.clear();
  return perfdata::Encode(perfdata::Cgroup{.id = cgroup->id, .path = path},
                          perfdata::DecodeSampleId(*view, format), format, view->misc, rewritten)
      .has_value();
}

}  // namespace perftape::record
