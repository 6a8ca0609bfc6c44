// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/debug_files.h"

#include <fcntl.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "formats/elf/build_id.h"

namespace perftape {
namespace {

std::filesystem::path FromEnvironment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
  return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

}  // namespace

std::vector<SeparateDebugFile> FindDebugFiles(const BuildId& build_id) {
  std::vector<std::filesystem::path> directories = {"/usr/lib/debug"};
  const std::filesystem::path home = FromEnvironment("HOME");
  if (!home.empty()) directories.push_back(home / ".debug");
  // As libdebuginfod chooses it (debuginfod_find_debuginfo(3)).
  std::filesystem::path cache = FromEnvironment("DEBUGINFOD_CACHE_PATH");
  if (cache.empty() && !home.empty()) {
    const std::filesystem::path xdg = FromEnvironment("XDG_CACHE_HOME");
    cache = (xdg.empty() ? home / ".cache" : xdg) / "debuginfod_client";
  }
  if (!cache.empty()) directories.push_back(cache);
  return FindDebugFilesIn(directories, build_id);
}

std::vector<SeparateDebugFile> FindDebugFilesIn(
    const std::vector<std::filesystem::path>& directories, const BuildId& build_id) {
  std::vector<SeparateDebugFile> found;
  const std::string id = build_id.hex();
  if (id.size() <= 2) return found;
  const std::string beginning = id.substr(0, 2), rest = id.substr(2);
  for (const std::filesystem::path& directory : directories) {
    for (const std::filesystem::path& path :
         {directory / ".build-id" / beginning / (rest + ".debug"),
          directory / ".build-id" / beginning / rest / "debug", directory / id / "debuginfo"}) {
      UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
      if (!file || elf::ReadBuildId(file.get()).value_or(BuildId{}) != build_id) continue;
      found.push_back({path, build_id, std::move(file)});
      return found;
    }
  }
  return found;
}

}  // namespace perftape
