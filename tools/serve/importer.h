// SPDX-License-Identifier: Apache-2.0
// From the files of a recording to windows with names. Symbols of the machine are kept open from
// window to window, in bounded memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/symbolize/symbol_sources.h"
#include "formats/base/build_id.h"
#include "formats/base/result.h"
#include "tools/serve/kept_binaries.h"
#include "tools/serve/push/payload.h"
#include "tools/serve/push/push_target.h"
#include "tools/serve/window.h"

namespace perftape::serve {

// A window, as the server and as the receiver of pushes get it.
struct ImportedFile {
  ImportedWindow window = {};
  std::vector<Payload> payloads = {};
};

// Whether open symbols are to be opened again: after a long time, because binaries were replaced or
// deleted; after a shorter one if this process uses much memory, because many were sampled.
bool IsTimeToReopen(std::chrono::nanoseconds age, std::uint64_t resident_bytes);

// The payloads of a receiver with this protocol; none without a receiver.
using PayloadKind = std::optional<PushProtocol>;

class Importer {
 public:
  // `binaries` is the directory of KeptBinaries; it need not exist.
  Importer(std::filesystem::path binaries, PayloadKind payload_kind)
      : binaries_(std::move(binaries)), payload_kind_(payload_kind) {}

  // Keeps the symbols of an open binary if they are out of reach otherwise. Fails as
  // KeptBinaries::Add does.
  Status Keep(const std::string& path, const BuildId& build_id, int file) {
    return binaries_.Add(path, build_id, file);
  }

  // Reads a perf.data with notes, and deletes it. Fails with kNotFound if it has none, and as
  // OpenInput, ReadPerfData, EncodePprof, PayloadsOf and PyroscopePayloadsOf do.
  Result<ImportedFile> Import(const std::filesystem::path& file);

 private:
  Result<symbolize::SymbolSources*> Sources();

  KeptBinaries binaries_;
  const PayloadKind payload_kind_;
  std::optional<symbolize::SymbolSources> sources_;
  std::chrono::steady_clock::time_point opened_;
};

}  // namespace perftape::serve
