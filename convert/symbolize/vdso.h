// SPDX-License-Identifier: Apache-2.0
// The vdso: code that the kernel maps into every process. No file contains it. A bundle or perf may
// have saved it. This process has it, too: it is the same for all processes as long as the kernel
// runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

// Returns a copy of this process's vdso. Fails with kNotFound if there is none.
Result<std::vector<std::byte>> ReadOwnVdso();

// The vdsos that all recordings of a run share: those identified by a build id.
struct VdsoImages {
  // Saved vdsos are searched by build id in these directories (formats/elf/debug_search_paths.h).
  explicit VdsoImages(std::vector<std::filesystem::path> searched)
      : directories(std::move(searched)) {}

  std::vector<std::filesystem::path> directories;
  OpenBinaries<BuildId> by_build_id;
};

// Resolves the vdso of one recording.
class VdsoSymbolizer : public Symbolizer {
 public:
  // `shared` and `recording` must outlive this object.
  VdsoSymbolizer(VdsoImages& shared, RecordingSources& recording)
      : shared_(shared), recording_(recording) {}

  // Searches bundles first, then directories, then this process's own vdso.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  // Returns the files of a vdso, valid as long as this object and the shared ones.
  const DebugFile& FileOf(const std::string& filename, const BuildId& build_id) {
    return Open(filename, build_id).file();
  }

 private:
  ElfBinary& Open(const std::string& filename, const BuildId& build_id);
  std::unique_ptr<ElfBinary> Find(std::string_view filename, const BuildId& build_id);

  VdsoImages& shared_;
  RecordingSources& recording_;
  OpenBinaries<std::pair<std::string, BuildId>> others_;
};

}  // namespace perftape::symbolize
