// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/debug_files.h"

#include <fcntl.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "formats/elf/build_id.h"
#include "formats/elf/debug_link.h"

namespace perftape {
namespace {

std::filesystem::path FromEnvironment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
  return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

UniqueFd Open(const std::filesystem::path& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

std::optional<SeparateDebugFile> WithBuildId(const std::filesystem::path& path,
                                             const BuildId& build_id) {
  UniqueFd file = Open(path);
  if (!file || elf::ReadBuildId(file.get()).value_or(BuildId{}) != build_id) return std::nullopt;
  return SeparateDebugFile{path, build_id, std::move(file)};
}

std::optional<SeparateDebugFile> FindByBuildId(const BuildId& build_id,
                                               const DebugDirectories& directories) {
  const std::string id = build_id.hex();
  if (id.size() <= 2) return std::nullopt;
  const std::string beginning = id.substr(0, 2), rest = id.substr(2);
  for (const std::filesystem::path& directory : directories) {
    const std::filesystem::path entry = directory / ".build-id" / beginning;
    for (const std::filesystem::path& path :
         {entry / (rest + ".debug"), entry / rest / "debug", directory / id / "debuginfo"}) {
      if (auto found = WithBuildId(path, build_id)) return found;
    }
  }
  return std::nullopt;
}

// Its build id decides where both have one; else the checksum of all of it.
std::optional<SeparateDebugFile> Linked(const std::filesystem::path& path, std::uint32_t crc,
                                        const BuildId& build_id) {
  UniqueFd file = Open(path);
  if (!file) return std::nullopt;
  const Result<BuildId> id = elf::ReadBuildId(file.get());
  if (!id) return std::nullopt;
  if (id->empty() || build_id.empty()) {
    const Result<MappedFile> mapped = MappedFile::FromFd(file.get(), path.native());
    if (!mapped || elf::DebugLinkCrc(mapped->bytes()) != crc) return std::nullopt;
  } else if (*id != build_id) {
    return std::nullopt;
  }
  return SeparateDebugFile{path, *id, std::move(file)};
}

// As gdb looks for it: beside the binary, in .debug there, and below each directory.
std::optional<SeparateDebugFile> FindByLink(const elf::ElfFile& binary,
                                            const std::filesystem::path& path,
                                            const DebugDirectories& directories) {
  const std::optional<elf::DebugLink> link = elf::ReadDebugLink(binary);
  if (!link) return std::nullopt;
  const std::filesystem::path name = std::filesystem::path(link->file_name).filename();
  const std::filesystem::path parent = path.parent_path();
  std::vector<std::filesystem::path> places = {parent / name, parent / ".debug" / name};
  for (const std::filesystem::path& directory : directories) {
    places.push_back(directory / parent.relative_path() / name);
  }
  for (const std::filesystem::path& place : places) {
    if (place == path) continue;
    if (auto found = Linked(place, link->crc, binary.build_id())) return found;
  }
  return std::nullopt;
}

// What `file`, which lies at `path`, shares parts with.
std::optional<SeparateDebugFile> FindShared(const elf::ElfFile& file,
                                            const std::filesystem::path& path,
                                            const DebugDirectories& directories) {
  const std::optional<elf::DebugAltLink> link = elf::ReadDebugAltLink(file);
  if (!link) return std::nullopt;
  // An absolute name stays what it is.
  if (auto found = WithBuildId(path.parent_path() / link->file_name, link->build_id)) return found;
  return FindByBuildId(link->build_id, directories);
}

}  // namespace

DebugDirectories DefaultDebugDirectories() {
  DebugDirectories directories = {"/usr/lib/debug"};
  const std::filesystem::path home = FromEnvironment("HOME");
  if (!home.empty()) directories.push_back(home / ".debug");
  // As libdebuginfod chooses it (debuginfod_find_debuginfo(3)).
  std::filesystem::path cache = FromEnvironment("DEBUGINFOD_CACHE_PATH");
  if (cache.empty() && !home.empty()) {
    const std::filesystem::path xdg = FromEnvironment("XDG_CACHE_HOME");
    cache = (xdg.empty() ? home / ".cache" : xdg) / "debuginfod_client";
  }
  if (!cache.empty()) directories.push_back(cache);
  return directories;
}

std::vector<SeparateDebugFile> FindDebugFiles(const elf::ElfFile& binary,
                                              const std::filesystem::path& path,
                                              const DebugDirectories& directories) {
  std::vector<SeparateDebugFile> files;
  const auto add = [&](std::optional<SeparateDebugFile> found) {
    if (found) files.push_back(*std::move(found));
    return found.has_value();
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
  if (debug) add(FindShared(*debug, std::filesystem::path(files[0].path), directories));
  return files;
}

}  // namespace perftape
