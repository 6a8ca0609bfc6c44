// SPDX-License-Identifier: Apache-2.0
// The vdso: code that the kernel maps into every process. It is in no file of the file system. It
// may have been saved, in a bundle or by perf; and this process has it too, the same for all as
// long as the kernel runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/recording_sources.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

// A copy of this process's vdso; kNotFound where it has none.
Result<std::vector<std::byte>> ReadOwnVdso();

// The vdsos that all recordings of a run share: those that a build id identifies.
struct VdsoImages {
  // Saved ones are searched by build id in these directories (formats/elf/debug_search_paths.h).
  explicit VdsoImages(std::vector<std::filesystem::path> searched)
      : directories(std::move(searched)) {}

  std::vector<std::filesystem::path> directories;
  std::map<BuildId, std::unique_ptr<ElfBinary>> by_build_id;
};

// Of one recording.
class VdsoSymbolizer : public Symbolizer {
 public:
  // Both must outlive this.
  VdsoSymbolizer(VdsoImages& shared, RecordingSources& recording)
      : shared_(shared), recording_(recording) {}

  // Searches bundles first, then directories, then this process's own vdso.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  // The files of a vdso, which live as long as this and the shared ones.
  const DebugFile& FileOf(const std::string& filename, const BuildId& build_id) {
    return Open(filename, build_id).file;
  }

 private:
  ElfBinary& Open(const std::string& filename, const BuildId& build_id);
  std::unique_ptr<ElfBinary> Find(std::string_view filename, const BuildId& build_id);

  VdsoImages& shared_;
  RecordingSources& recording_;
  std::map<std::pair<std::string, BuildId>, std::unique_ptr<ElfBinary>> others_;
};

}  // namespace perftape::symbolize
