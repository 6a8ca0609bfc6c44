// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/debug_files.h"

#include <optional>
#include <utility>

#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/build_id.h"
#include "formats/elf/debug_link.h"
#include "formats/elf/debug_search_paths.h"

namespace perftape::record {
namespace {

namespace fs = std::filesystem;

std::optional<SeparateDebugFile> WithBuildId(const fs::path& path, const BuildId& build_id) {
  Result<UniqueFd> file = OpenRegularFile(path);
  if (!file || elf::ReadBuildId(file->get()).value_or(BuildId{}) != build_id) return std::nullopt;
  return SeparateDebugFile{path, build_id, *std::move(file)};
}

std::optional<SeparateDebugFile> FindByBuildId(const BuildId& build_id,
                                               const std::vector<fs::path>& directories,
                                               elf::BuildIdFile type = elf::BuildIdFile::kDebug) {
  for (const fs::path& directory : directories) {
    for (const fs::path& path : elf::SearchPathsIn(directory, build_id, type, {})) {
      if (auto found = WithBuildId(path, build_id)) return found;
    }
  }
  return std::nullopt;
}

// Compares the build ids if both have one, otherwise the checksum of the whole file.
std::optional<SeparateDebugFile> Linked(const fs::path& path, std::uint32_t crc,
                                        const BuildId& build_id) {
  Result<UniqueFd> file = OpenRegularFile(path);
  if (!file) return std::nullopt;
  const Result<BuildId> id = elf::ReadBuildId(file->get());
  if (!id) return std::nullopt;
  if (id->empty() || build_id.empty()) {
    const Result<MappedFile> mapped = MappedFile::FromFd(file->get(), path.native());
    if (!mapped || mapped->bytes().size() > symbol_limits::kChecksummed) return std::nullopt;
    if (elf::DebugLinkCrc(mapped->bytes()) != crc) return std::nullopt;
  } else if (*id != build_id) {
    return std::nullopt;
  }
  return SeparateDebugFile{path, *id, *std::move(file)};
}

std::optional<SeparateDebugFile> FindByLink(const elf::ElfFile& binary, const fs::path& path,
                                            const std::vector<fs::path>& directories) {
  const std::optional<elf::DebugLink> link = elf::ReadDebugLink(binary);
  if (!link) return std::nullopt;
  for (const fs::path& candidate :
       elf::SearchPathsOfDebugLink(link->file_name, path, "/", directories)) {
    if (candidate == path) continue;
    if (auto found = Linked(candidate, link->crc, binary.build_id())) return found;
  }
  return std::nullopt;
}

// Finds the dwz file of `file`, which is at `path`.
std::optional<SeparateDebugFile> FindShared(const elf::ElfFile& file, const fs::path& path,
                                            const std::vector<fs::path>& directories) {
  const std::optional<elf::DebugAltLink> link = elf::ReadDebugAltLink(file);
  if (!link) return std::nullopt;
  if (auto found = FindByBuildId(link->build_id, directories)) return found;
  const elf::LinkSearchPaths candidates =
      elf::SearchPathsOfDebugAltLink(link->file_name, path, {.debug_dirs = directories});
  for (const fs::path& candidate : candidates.paths) {
    if (auto found = WithBuildId(candidate, link->build_id)) return found;
  }
  if (candidates.outside.empty()) return std::nullopt;
  return SeparateDebugFile{
      candidates.outside, link->build_id, {}, "outside the directories that are searched"};
}

}  // namespace

std::vector<SeparateDebugFile> FindDebugFiles(const elf::ElfFile& binary, const fs::path& path,
                                              const std::vector<fs::path>& directories) {
  std::vector<SeparateDebugFile> files;
  const auto add = [&](std::optional<SeparateDebugFile> found) {
    if (!found) return false;
    files.push_back(*std::move(found));
    return true;
  };
  if (!add(FindByBuildId(binary.build_id(), directories))) {
    add(FindByLink(binary, path, directories));
  }
  if (files.empty()) {
    add(FindShared(binary, path, directories));
    return files;
  }
  const Result<MappedFile> mapped = MappedFile::FromFd(files[0].file.get(), "debug file");
  if (!mapped) return files;
  const Result<elf::ElfFile> debug = elf::ElfFile::FromBytes(mapped->bytes());
  if (debug) add(FindShared(*debug, fs::path(files[0].path), directories));
  return files;
}

std::optional<fs::path> FindImage(const elf::ElfFile& binary,
                                  const std::vector<fs::path>& directories) {
  const auto found = FindByBuildId(binary.build_id(), directories, elf::BuildIdFile::kImage);
  return found ? std::optional(found->path) : std::nullopt;
}

}  // namespace perftape::record
