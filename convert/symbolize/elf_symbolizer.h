// SPDX-License-Identifier: Apache-2.0
// Resolves names of binaries and of kernel modules from their ELF files.
#pragma once

#include <compare>
#include <cstdint>
#include <future>
#include <string>
#include <utility>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

// The binaries that all recordings of a run share: those identified by a build id. They stay open.
struct ElfBinaries {
  explicit ElfBinaries(DebugFiles searched, SymbolOptions wanted = {})
      : files(std::move(searched)), options(std::move(wanted)) {}

  // Begins to read the names in all binaries on another thread. Call Wait before names are used.
  void ReadNamesAhead();
  void Wait();

  DebugFiles files;
  SymbolOptions options;
  // By build id, and whether files of this machine may be used.
  OpenBinaries<std::pair<BuildId, bool>> by_build_id;

 private:
  std::future<void> ahead_;
};

// Resolves the binaries of one recording.
class ElfSymbolizer : public Symbolizer {
 public:
  // `shared` and `recording` must outlive this object.
  ElfSymbolizer(ElfBinaries& shared, RecordingSources& recording)
      : shared_(shared), recording_(recording) {}

  // Opens each binary once, even if several mappings need it.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  // Whether a file was found for the mapping, and the mapping is of code in it. Memory may have the
  // name and the build id of another mapping.
  bool IsCodeOfFile(const convert::Profile& profile, const convert::Mapping& mapping);

  // Returns the files of a binary, valid as long as this object and the shared binaries.
  const DebugFile& FileOf(const std::string& filename, const BuildId& build_id) {
    return Open({filename, build_id}).file();
  }

 private:
  // A binary as a mapping has it. The instance is one of kFileInstance, or 0.
  struct Named {
    std::string filename;
    BuildId build_id;
    std::uint64_t instance = 0;
    auto operator<=>(const Named&) const = default;
  };
  static Named NameOf(const convert::Profile& profile, const convert::Mapping& mapping);
  ElfBinary& Open(const Named& named);

  ElfBinaries& shared_;
  RecordingSources& recording_;
  // Binaries that were not found, or that have no build id.
  OpenBinaries<Named> others_;
};

}  // namespace perftape::symbolize
