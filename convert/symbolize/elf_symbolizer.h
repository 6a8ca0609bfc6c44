// SPDX-License-Identifier: Apache-2.0
// Names of binaries and of kernel modules, from their ELF files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

class ElfSymbolizer : public Symbolizer {
 public:
  // What one recording has besides the places that all are searched for in.
  struct OfRecording {
    // Its bundles, opened when they are first asked for.
    std::function<std::vector<SharedBundle>()> bundles = [] { return std::vector<SharedBundle>(); };
    std::function<std::string()> not_local = [] { return std::string(); };  // as BinaryQuery's
  };

  explicit ElfSymbolizer(DebugFiles files, SymbolOptions options = {});
  ~ElfSymbolizer() override;

  // From here on binaries are those of this recording. What was found by build id is kept.
  void BeginRecording(OfRecording recording);

  // Opens each binary once, in however many mappings and recordings it is, and keeps it open.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  // The files of a binary, which live until the next recording begins.
  const DebugFile& FileOf(const std::string& filename, const BuildId& build_id) {
    return Open(filename, build_id).file;
  }

 private:
  ElfBinary& Open(const std::string& filename, const BuildId& build_id);

  DebugFiles files_;
  SymbolOptions options_;
  OfRecording recording_;
  // By build id, and whether files of this machine may be taken.
  std::map<std::pair<BuildId, bool>, std::unique_ptr<ElfBinary>> by_build_id_;
  // Of this recording: those that were not found, or that no build id tells apart.
  std::map<std::pair<std::string, BuildId>, std::unique_ptr<ElfBinary>> others_;
};

}  // namespace perftape::symbolize
