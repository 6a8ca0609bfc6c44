// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/debug_search_paths.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>

namespace perftape::elf {
namespace {

namespace fs = std::filesystem;

std::string_view PerfName(BuildIdFile type) {
  static constexpr std::string_view kNames[] = {"elf", "debug", "kallsyms", "vdso"};
  return kNames[static_cast<std::size_t>(type)];
}

// The regular files of a directory, sorted by name.
std::vector<fs::path> FilesIn(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (at->is_regular_file(unreadable)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

bool IsFileName(const fs::path& name) {
  return !name.empty() && name != "." && name != "..";
}

std::optional<fs::path> AbsoluteVariable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
  if (value == nullptr || *value != '/') return std::nullopt;
  return fs::path(value);
}

}  // namespace

fs::path BuildIdLink(const fs::path& directory, const BuildId& build_id) {
  const std::string hex = build_id.hex();
  return directory / ".build-id" / hex.substr(0, 2) / hex.substr(2);
}

std::vector<fs::path> SearchPathsIn(const fs::path& directory, const BuildId& build_id,
                                    BuildIdFile type, std::string_view recorded_path) {
  if (build_id.empty()) return {};
  const std::string hex = build_id.hex();
  const fs::path link = BuildIdLink(directory, build_id);
  std::vector<fs::path> search_paths = {link / PerfName(type)};
  if (type == BuildIdFile::kDebug) search_paths.push_back(fs::path(link).concat(".debug"));
  if (type == BuildIdFile::kImage) search_paths.push_back(link);
  while (recorded_path.starts_with('/')) recorded_path.remove_prefix(1);
  if (!recorded_path.empty() && recorded_path.find("..") == std::string_view::npos) {
    search_paths.push_back(directory / recorded_path / hex / PerfName(type));
  }
  if (type == BuildIdFile::kDebug) search_paths.push_back(directory / hex / "debuginfo");
  if (type == BuildIdFile::kImage) {
    search_paths.push_back(directory / hex / "executable");
    for (fs::path& file : FilesIn(directory / hex)) {
      const bool is_listed = file.filename() == "executable" || file.filename() == "debuginfo";
      if (!is_listed) search_paths.push_back(std::move(file));
    }
  }
  return search_paths;
}

std::vector<fs::path> DefaultDebugDirs() {
  std::vector<fs::path> directories;
  const auto home = AbsoluteVariable("HOME");
  if (home) directories.push_back(*home / ".debug");
  if (const auto cache = AbsoluteVariable("DEBUGINFOD_CACHE_PATH")) {
    directories.push_back(*cache);
  } else if (const auto caches = AbsoluteVariable("XDG_CACHE_HOME")) {
    directories.push_back(*caches / "debuginfod_client");
  } else if (home) {
    directories.push_back(*home / ".cache" / "debuginfod_client");
  }
  directories.emplace_back("/usr/lib/debug");
  return directories;
}

std::vector<fs::path> SearchPathsOfDebugLink(std::string_view name, const fs::path& binary,
                                             const fs::path& root,
                                             const std::vector<fs::path>& directories) {
  const fs::path file = fs::path(name).filename();
  if (!IsFileName(file)) return {};
  // The path is absolute and normalized, so that ".." cannot lead out of `root`.
  const fs::path directory = ("/" / binary.parent_path()).lexically_normal().relative_path();
  std::vector<fs::path> search_paths = {root / directory / file,
                                        root / directory / ".debug" / file};
  for (const fs::path& debug : directories) search_paths.push_back(debug / directory / file);
  return search_paths;
}

LinkSearchPaths SearchPathsOfDebugAltLink(std::string_view name, const fs::path& file,
                                          const SearchedDirectories& searched) {
  const fs::path target(name), directory = file.parent_path();
  LinkSearchPaths search_paths = SearchPathsOfLink(target, directory, directory, searched);
  if (!IsFileName(target.filename())) return search_paths;
  for (const fs::path& debug : searched.debug_dirs) {
    search_paths.paths.push_back(debug / ".dwz" / target.filename());
  }
  return search_paths;
}

}  // namespace perftape::elf
