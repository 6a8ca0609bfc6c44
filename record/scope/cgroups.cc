// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroups.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>

#include "formats/base/file.h"
#include "formats/perfdata/record.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

struct CloseDirectoryStream {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Mount options that are no controllers (kernel/cgroup/cgroup-v1.c, cgroup1_show_options).
bool IsController(std::string_view option) {
  constexpr std::string_view kOthers[] = {
      "rw", "ro", "noprefix", "xattr", "clone_children", "cpuset_v2_mode", "favordynmods", "none"};
  return !option.empty() && !option.contains('=') && std::ranges::count(kOthers, option) == 0;
}

bool IsOctal(char digit) {
  return digit >= '0' && digit <= '7';
}

// Decodes "\040", which stands for a space (fs/proc_namespace.c, mangle).
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view digits = text.substr(at + 1, 3);
    if (text[at] == '\\' && digits.size() == 3 && std::ranges::all_of(digits, IsOctal)) {
      plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0');
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

struct CgroupMount {
  CgroupHierarchy hierarchy;
  // Whether the mount begins where the recorder's cgroup namespace does. One from outside of the
  // namespace begins at "/../.." (kernel/cgroup/cgroup.c, cgroup_show_path).
  bool is_of_namespace = false;
};

// 36 32 0:31 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
std::optional<CgroupMount> ParseMountinfoLine(std::string_view line) {
  for (int field = 0; field < 3; ++field) NextField(line, ' ');
  const std::string_view root = NextField(line, ' ');
  const std::string_view mount = NextField(line, ' ');
  while (!line.empty() && NextField(line, ' ') != "-") {
  }
  const std::string_view type = NextField(line, ' ');
  NextField(line, ' ');  // source
  CgroupMount found{.hierarchy = {.mount = Unescaped(mount)}, .is_of_namespace = root == "/"};
  if (type == "cgroup2") return found;
  if (type != "cgroup") return std::nullopt;
  while (!line.empty()) {
    const std::string_view option = NextField(line, ',');
    if (IsController(option)) found.hierarchy.controllers.emplace_back(option);
  }
  if (found.hierarchy.is_v2()) return std::nullopt;
  return found;
}

// Returns a mount of each hierarchy: the first one of the namespace, or else the first one.
std::vector<CgroupHierarchy> HierarchiesOf(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (const std::optional<std::string_view> line = NextLine(mountinfo)) {
    std::optional<CgroupMount> mount = ParseMountinfoLine(*line);
    if (!mount) continue;
    const auto same = std::ranges::find_if(mounts, [&](const CgroupMount& other) {
      return other.hierarchy.controllers == mount->hierarchy.controllers;
    });
    if (same == mounts.end()) {
      mounts.push_back(*std::move(mount));
    } else if (mount->is_of_namespace && !same->is_of_namespace) {
      *same = *std::move(mount);
    }
  }
  std::vector<CgroupHierarchy> hierarchies;
  for (CgroupMount& mount : mounts) hierarchies.push_back(std::move(mount.hierarchy));
  return hierarchies;
}

// Returns the names of the directories in `directory`, sorted.
std::vector<std::string> Subdirectories(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDirectoryStream> stream(::opendir(directory.c_str()));
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void AddCgroups(const CgroupHierarchy& hierarchy, const std::string& path,
                std::vector<CgroupDirectory>& found) {
  const std::string directory = hierarchy.mount.string() + path;
  const Result<std::uint64_t> id = CgroupIdOf(directory);
  if (!id) return;
  found.push_back({.path = path.empty() ? "/" : path, .id = *id});
  for (const std::string& name : Subdirectories(directory)) {
    AddCgroups(hierarchy, path + "/" + name, found);
  }
}

}  // namespace

Result<std::vector<CgroupHierarchy>> MountedCgroupHierarchies(
    const std::filesystem::path& mountinfo) {
  TRY_ASSIGN(const std::string text, ReadWholeFile(mountinfo));
  std::vector<CgroupHierarchy> hierarchies = HierarchiesOf(text);
  std::ranges::stable_partition(hierarchies, &CgroupHierarchy::is_v2);
  const auto has_perf_event = [](const CgroupHierarchy& hierarchy) {
    return std::ranges::count(hierarchy.controllers, "perf_event") > 0;
  };
  const bool is_v1 = std::ranges::any_of(hierarchies, has_perf_event);
  if (is_v1) std::ranges::stable_partition(hierarchies, has_perf_event);
  if (!hierarchies.empty()) {
    hierarchies.front().is_perfs = is_v1 || hierarchies.front().is_v2();
  }
  return hierarchies;
}

std::vector<CgroupDirectory> CgroupsOf(const CgroupHierarchy& hierarchy) {
  std::vector<CgroupDirectory> found;
  AddCgroups(hierarchy, "", found);
  return found;
}

Result<std::uint64_t> CgroupIdOf(const std::filesystem::path& directory) {
  struct stat status = {};
  if (stat(directory.c_str(), &status) != 0) return FailErrno(directory.string(), errno);
  if (!S_ISDIR(status.st_mode)) {
    return Fail(ErrorCode::kNotFound, directory.string() + ": not a directory");
  }
  return status.st_ino;
}

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
