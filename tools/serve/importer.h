// SPDX-License-Identifier: Apache-2.0
// From the files of a recording to windows with names. Symbols of the machine are opened once, and
// kept from window to window.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "convert/symbolize/symbol_sources.h"
#include "formats/base/result.h"
#include "tools/serve/push/payload.h"
#include "tools/serve/window.h"

namespace perftape::serve {

// A window, as the server and as the receiver of pushes get it.
struct ImportedFile {
  ImportedWindow window = {};
  std::vector<Payload> payloads = {};
};

enum class WithPayloads : std::uint8_t { kNo, kYes };

class Importer {
 public:
  explicit Importer(WithPayloads with_payloads) : with_payloads_(with_payloads) {}

  // Reads a perf.data with notes, and deletes it. Fails with kNotFound if it has none, and as
  // OpenInput, ReadPerfData, EncodePprof and PayloadsOf do.
  Result<ImportedFile> Import(const std::filesystem::path& file);

 private:
  Result<symbolize::SymbolSources*> Sources();

  const WithPayloads with_payloads_;
  std::optional<symbolize::SymbolSources> sources_;
  std::chrono::steady_clock::time_point opened_;
};

}  // namespace perftape::serve
