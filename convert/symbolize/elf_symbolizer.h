// SPDX-License-Identifier: Apache-2.0
// Names of binaries and of kernel modules, from their ELF files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/recording_sources.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

// The binaries that all recordings of a run share: those that a build id identifies. They stay
// open.
struct ElfBinaries {
  explicit ElfBinaries(DebugFiles searched, SymbolOptions wanted = {})
      : files(std::move(searched)), options(std::move(wanted)) {}

  DebugFiles files;
  SymbolOptions options;
  // By build id, and whether files of this machine may be used.
  std::map<std::pair<BuildId, bool>, std::unique_ptr<ElfBinary>> by_build_id;
};

// Of one recording.
class ElfSymbolizer : public Symbolizer {
 public:
  // Both must outlive this.
  ElfSymbolizer(ElfBinaries& shared, RecordingSources& recording)
      : shared_(shared), recording_(recording) {}

  // Opens each binary once, however many mappings it is in.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  // The files of a binary, which live as long as this and the shared binaries.
  const DebugFile& FileOf(const std::string& filename, const BuildId& build_id) {
    return Open(filename, build_id).file;
  }

 private:
  ElfBinary& Open(const std::string& filename, const BuildId& build_id);

  ElfBinaries& shared_;
  RecordingSources& recording_;
  // Those that were not found, or that no build id identifies.
  std::map<std::pair<std::string, BuildId>, std::unique_ptr<ElfBinary>> others_;
};

}  // namespace perftape::symbolize
