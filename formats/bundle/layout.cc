// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/layout.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "formats/bundle/recording_notes.h"

namespace perftape::bundle {
namespace {

constexpr std::size_t kLongestPart = 255;   // NAME_MAX
constexpr std::size_t kLongestName = 4095;  // PATH_MAX without its NUL
// Shorter hexadecimal names may be words: "cafe", "dead". lld's fast build ids have 16 digits.
constexpr std::size_t kShortestBuildId = 16;

// Names with a meaning in a bundle. A recorded path must not begin with one.
constexpr std::array<std::string_view, 6> kOwnDirectories = {
    ".build-id", "no-build-id", "perf-map", "jitdump", kManifestName, kNotesName};

// Converts a recorded path to a relative one. Removes the first slash, and replaces components that
// lead elsewhere.
std::string RelativePath(std::string_view path) {
  std::string clean;
  for (const auto range : std::views::split(path, '/')) {
    std::string part(range.begin(), range.end());
    if (part.empty() || part == ".") continue;
    std::ranges::replace(part, '\0', '_');
    if (part == "..") part = "_..";
    if (clean.empty() && std::ranges::find(kOwnDirectories, part) != kOwnDirectories.end())
      part += '_';
    if (!clean.empty()) clean += '/';
    clean += part.substr(0, kLongestPart);
  }
  return clean.empty() ? "unnamed" : clean;
}

std::string_view LeafOf(FileKind kind) {
  switch (kind) {
    case FileKind::kDebug:
      return "debug";
    case FileKind::kKallsyms:
      return "kallsyms";
    case FileKind::kVdso:
      return "vdso";
    default:
      return "elf";
  }
}

std::optional<FileKind> KindOfLeaf(std::string_view leaf) {
  for (const FileKind kind :
       {FileKind::kElf, FileKind::kDebug, FileKind::kKallsyms, FileKind::kVdso}) {
    if (leaf == LeafOf(kind)) return kind;
  }
  return {};
}

// Splits "a/b/c" into "a/b" and "c".
std::pair<std::string_view, std::string_view> SplitLast(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {"", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

std::optional<BundledFile> FileIn(std::string_view directory, std::optional<FileKind> kind) {
  const auto [path, digits] = SplitLast(directory);
  if (path.empty() || path.starts_with(".build-id/") || digits.size() < kShortestBuildId) return {};
  const auto build_id = BuildId::FromHex(digits);
  if (!build_id) return {};
  BundledFile file;
  // perf removes the first slash of a path. The kernel's names, such as [vdso], have none.
  file.path = (path.starts_with('[') ? "" : "/") + std::string(path);
  if (!kind) {
    kind = path.starts_with("[vdso") ? FileKind::kVdso
           : path.starts_with('[')   ? FileKind::kKallsyms
                                     : FileKind::kElf;
  }
  file.kind = *kind;
  file.build_id = *build_id;
  file.kept = Kept::kWhole;
  return file;
}

}  // namespace

std::string MemberName(const BundledFile& file) {
  const std::string path = RelativePath(file.path);
  if (file.kind == FileKind::kPerfMap) {
    return "perf-map/perf-" + std::to_string(file.pid) + ".map";
  }
  if (file.kind == FileKind::kJitDump) {
    return "jitdump/" + std::to_string(file.pid) + "/" + std::string(SplitLast(path).second);
  }
  const std::string leaf = "/" + std::string(LeafOf(file.kind));
  if (file.build_id.empty()) return "no-build-id/" + path + leaf;
  return path + "/" + file.build_id.hex() + leaf;
}

BuildIdLink LinkTo(std::string_view member, const BuildId& id) {
  const std::string digits = id.hex();
  return {.name = ".build-id/" + digits.substr(0, 2) + "/" + digits.substr(2),
          .target = "../../" + std::string(SplitLast(member).first)};
}

std::optional<BundledFile> FileAt(std::string_view member) {
  const auto [directory, leaf] = SplitLast(member);
  if (const auto kind = KindOfLeaf(leaf)) return FileIn(directory, kind);
  return FileIn(member, std::nullopt);
}

std::optional<std::string> CleanName(std::string_view name) {
  if (name.starts_with('/') || name.find('\0') != std::string_view::npos) return {};
  std::string clean;
  for (const auto range : std::views::split(name, '/')) {
    const std::string_view part(range.begin(), range.end());
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.size() > kLongestPart) return {};
    if (!clean.empty()) clean += '/';
    clean += part;
    if (clean.size() > kLongestName) return {};
  }
  if (clean.empty()) return {};
  return clean;
}

bool StaysInside(std::string_view name, std::string_view target) {
  if (target.empty() || target.starts_with('/') || target.find('\0') != std::string_view::npos ||
      target.size() > kLongestName) {
    return false;
  }
  auto depth = std::ranges::count(name, '/');  // of the directory that contains the link
  for (const auto range : std::views::split(target, '/')) {
    const std::string_view part(range.begin(), range.end());
    if (part.empty() || part == ".") continue;
    depth += part == ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

}  // namespace perftape::bundle
