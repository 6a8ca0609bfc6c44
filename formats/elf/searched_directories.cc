// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/searched_directories.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace perftape::elf {
namespace {

namespace fs = std::filesystem;

// Returns an absolute, normalized path. Empty if there is no current directory.
fs::path Canonical(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error || absolute.has_filename()) return error ? fs::path() : absolute;
  return absolute.parent_path();  // "/a/b" for "/a/b/"; "/" is unchanged
}

}  // namespace

std::string LinkSearchPaths::Refusal() const {
  if (outside.empty()) return {};
  return outside.native() + ": outside the directories that are searched";
}

bool IsBelow(const fs::path& path, const fs::path& directory) {
  if (path.empty() || directory.empty()) return false;
  const fs::path inner = Canonical(path), outer = Canonical(directory);
  if (inner.empty() || outer.empty()) return false;
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

LinkSearchPaths SearchPathsOfLink(const fs::path& name, const fs::path& base,
                                  const fs::path& beside, const SearchedDirectories& searched) {
  if (!name.has_filename() || (name.is_relative() && base.empty())) return {};
  const fs::path target = (base / name).lexically_normal();
  const auto holds_target = [&](const fs::path& directory) { return IsBelow(target, directory); };
  LinkSearchPaths search_paths;
  if (holds_target(beside) || std::ranges::any_of(searched.roots, holds_target) ||
      std::ranges::any_of(searched.debug_dirs, holds_target)) {
    search_paths.paths.push_back(target);
  }
  if (target.is_absolute()) {
    for (const fs::path& root : searched.roots) {
      fs::path in_root = root / target.relative_path();
      if (in_root != target) search_paths.paths.push_back(std::move(in_root));
    }
  }
  if (search_paths.paths.empty()) search_paths.outside = target;
  return search_paths;
}

}  // namespace perftape::elf
