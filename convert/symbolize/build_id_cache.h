// SPDX-License-Identifier: Apache-2.0
// Writes perf's build-id cache (~/.debug): PATH/ID/{elf,debug,vdso,kallsyms}, and a link to the
// directory from .build-id/aa/rest (formats/bundle/layout.h).
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "convert/symbolize/symbol_sources.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"

namespace perftape::symbolize {

class BuildIdCache {
 public:
  explicit BuildIdCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Adds a file, once even if it is called several times for an entry. Without bytes the entry is
  // reported as not found.
  Status Add(const SymbolFile& entry, std::optional<Bytes> bytes);
  CacheReport Finish() && { return std::move(report_); }

 private:
  Status Write(const std::filesystem::path& member, const SymbolFile& entry, Bytes bytes);

  std::filesystem::path directory_;
  std::set<std::string> seen_;  // members
  CacheReport report_;
};

}  // namespace perftape::symbolize
