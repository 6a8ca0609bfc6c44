// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/debug_files.h"

#include <algorithm>
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

bool IsBelow(const fs::path& path, const fs::path& directory) {
  const auto [in_path, in_directory] = std::ranges::mismatch(path, directory);
  return in_directory == directory.end() || in_directory->empty();
}

// Where debug files are searched.
struct Search {
  const std::vector<fs::path>& directories;
  OthersFiles& files;

  // The directories are the recorder's own choice. The owner of a binary chooses what is beside it.
  Result<UniqueFd> Open(const fs::path& path) const {
    const fs::path normal = path.lexically_normal();
    if (std::ranges::any_of(directories, [&](const fs::path& it) { return IsBelow(normal, it); })) {
      return OpenRegularFile(path);
    }
    OpenedFile opened = files.OpenPath(path);
    if (opened.outcome == FileOutcome::kOpened) return std::move(opened.file);
    return Fail(ErrorCode::kNotFound, path.native() + ": cannot be opened");
  }
};

std::optional<SeparateDebugFile> WithBuildId(const Search& search, const fs::path& path,
                                             const BuildId& build_id) {
  Result<UniqueFd> file = search.Open(path);
  if (!file || elf::ReadBuildId(file->get()).value_or(BuildId{}) != build_id) return std::nullopt;
  return SeparateDebugFile{path, build_id, *std::move(file)};
}

std::optional<SeparateDebugFile> FindByBuildId(const Search& search, const BuildId& build_id,
                                               elf::BuildIdFile type = elf::BuildIdFile::kDebug) {
  for (const fs::path& directory : search.directories) {
    for (const fs::path& path : elf::SearchPathsIn(directory, build_id, type, {})) {
      if (auto found = WithBuildId(search, path, build_id)) return found;
    }
  }
  return std::nullopt;
}

// Compares the build ids if both have one, otherwise the checksum of the whole file.
std::optional<SeparateDebugFile> Linked(const Search& search, const fs::path& path,
                                        std::uint32_t crc, const BuildId& build_id) {
  Result<UniqueFd> file = search.Open(path);
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

std::optional<SeparateDebugFile> FindByLink(const Search& search, const elf::ElfFile& binary,
                                            const fs::path& path) {
  const std::optional<elf::DebugLink> link = elf::ReadDebugLink(binary);
  if (!link) return std::nullopt;
  for (const fs::path& candidate :
       elf::SearchPathsOfDebugLink(link->file_name, path, "/", search.directories)) {
    if (candidate == path) continue;
    if (auto found = Linked(search, candidate, link->crc, binary.build_id())) return found;
  }
  return std::nullopt;
}

// Finds the dwz file of `file`, which is at `path`.
std::optional<SeparateDebugFile> FindShared(const Search& search, const elf::ElfFile& file,
                                            const fs::path& path) {
  const std::optional<elf::DebugAltLink> link = elf::ReadDebugAltLink(file);
  if (!link) return std::nullopt;
  if (auto found = FindByBuildId(search, link->build_id)) return found;
  const elf::LinkSearchPaths candidates =
      elf::SearchPathsOfDebugAltLink(link->file_name, path, {.debug_dirs = search.directories});
  for (const fs::path& candidate : candidates.paths) {
    if (auto found = WithBuildId(search, candidate, link->build_id)) return found;
  }
  if (candidates.outside.empty()) return std::nullopt;
  return SeparateDebugFile{
      candidates.outside, link->build_id, {}, "outside the directories that are searched"};
}

}  // namespace

std::vector<SeparateDebugFile> FindDebugFiles(const elf::ElfFile& binary, const fs::path& path,
                                              const std::vector<fs::path>& directories,
                                              OthersFiles& others) {
  const Search search = {.directories = directories, .files = others};
  std::vector<SeparateDebugFile> files;
  const auto add = [&](std::optional<SeparateDebugFile> found) {
    if (!found) return false;
    files.push_back(*std::move(found));
    return true;
  };
  if (!add(FindByBuildId(search, binary.build_id()))) {
    add(FindByLink(search, binary, path));
  }
  if (files.empty()) {
    add(FindShared(search, binary, path));
    return files;
  }
  const Result<MappedFile> mapped = MappedFile::FromFd(files[0].file.get(), "debug file");
  if (!mapped) return files;
  const Result<elf::ElfFile> debug = elf::ElfFile::FromBytes(mapped->bytes());
  if (debug) add(FindShared(search, *debug, fs::path(files[0].path)));
  return files;
}

std::optional<fs::path> FindImage(const elf::ElfFile& binary,
                                  const std::vector<fs::path>& directories, OthersFiles& others) {
  const Search search = {.directories = directories, .files = others};
  const auto found = FindByBuildId(search, binary.build_id(), elf::BuildIdFile::kImage);
  return found ? std::optional(found->path) : std::nullopt;
}

}  // namespace perftape::record
