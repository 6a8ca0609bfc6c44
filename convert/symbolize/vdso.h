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
#include <vector>

#include "convert/symbolize/elf_symbolizer.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

// A copy of this process's vdso; kNotFound where it has none.
Result<std::vector<std::byte>> ReadOwnVdso();

class VdsoSymbolizer : public Symbolizer {
 public:
  // Saved ones are looked for by build id in `directories` (formats/elf/debug_search_paths.h).
  explicit VdsoSymbolizer(std::vector<std::filesystem::path> directories);
  ~VdsoSymbolizer() override;

  // As ElfSymbolizer's.
  void BeginRecording(ElfSymbolizer::OfRecording recording);

  // Bundles come first, then directories, then this process's own.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  // As ElfSymbolizer's.
  const DebugFile& FileOf(const std::string& filename, const BuildId& build_id) {
    return Open(filename, build_id).file;
  }

 private:
  ElfBinary& Open(const std::string& filename, const BuildId& build_id);
  std::unique_ptr<ElfBinary> Find(std::string_view filename, const BuildId& build_id);

  std::vector<std::filesystem::path> directories_;
  ElfSymbolizer::OfRecording recording_;
  std::map<BuildId, std::unique_ptr<ElfBinary>> by_build_id_;
  std::map<std::pair<std::string, BuildId>, std::unique_ptr<ElfBinary>> others_;
};

}  // namespace perftape::symbolize
