// SPDX-License-Identifier: Apache-2.0
// Real profiles to try readers on. They are no part of the source tree, being large and of many
// licences; tests that want them are skipped where they are not.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace perftape {

inline constexpr const char* kNoCorpus =
    "no corpus: neither $PERFTAPE_CORPUS nor ../shared/corpus is a directory";

// $PERFTAPE_CORPUS, or shared/corpus beside the source directory; empty where neither is there.
inline std::filesystem::path CorpusDirectory() {
  std::error_code ignored;
  if (const char* named = std::getenv("PERFTAPE_CORPUS")) {
    return std::filesystem::is_directory(named, ignored) ? named : "";
  }
  const char* source = std::getenv("PERFTAPE_SOURCE_DIR");  // set by CTest
  if (source == nullptr) return "";
  const std::filesystem::path beside = std::filesystem::path(source) / "../shared/corpus";
  return std::filesystem::is_directory(beside, ignored) ? beside : "";
}

}  // namespace perftape
