// SPDX-License-Identifier: Apache-2.0
// Finds the corpus: profiles of other tools. They are large and have many licences, so they are not
// part of the source tree. Tests that need them are skipped if the corpus is missing.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace perftape {

inline constexpr const char* kNoCorpus =
    "no corpus: neither $PERFTAPE_CORPUS nor ../shared/corpus is a directory";

// Returns $PERFTAPE_CORPUS, or shared/corpus beside the source directory; empty if it is no
// directory.
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
