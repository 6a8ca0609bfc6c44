// SPDX-License-Identifier: Apache-2.0
// From the files of a recording to windows with names. Symbols of the machine are opened once, and
// kept from window to window.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "convert/symbolize/symbol_sources.h"
#include "formats/base/result.h"
#include "tools/serve/window.h"

namespace perftape::serve {

class Importer {
 public:
  // Reads a perf.data with notes, and deletes it. Fails with kNotFound if it has none, and as
  // OpenInput, ReadPerfData and EncodePprof do.
  Result<ImportedWindow> Import(const std::filesystem::path& file);

 private:
  Result<symbolize::SymbolSources*> Sources();

  std::optional<symbolize::SymbolSources> sources_;
  std::chrono::steady_clock::time_point opened_;
};

}  // namespace perftape::serve
