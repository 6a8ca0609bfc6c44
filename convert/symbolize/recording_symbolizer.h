// SPDX-License-Identifier: Apache-2.0
// Names one recording: selects the symbolizer for each mapping. Everything that is expensive to
// open or build is in SharedSources, for the recordings that follow.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convert/symbolize/elf_symbolizer.h"
#include "convert/symbolize/kernel_files.h"
#include "convert/symbolize/kernel_symbolizer.h"
#include "convert/symbolize/perf_map_symbolizer.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/symbolizer.h"
#include "convert/symbolize/vdso.h"

namespace perftape::symbolize {

// Shared by all recordings of a run: the options, the given bundle, open files and their indexes.
struct SharedSources {
  // Fails if `options` names a file that cannot be read, or a directory that does not exist.
  static Result<std::unique_ptr<SharedSources>> Open(const SymbolOptions& options);

  explicit SharedSources(const SymbolOptions& wanted);

  SymbolOptions options;
  std::vector<std::filesystem::path> directories;  // searched by build id
  SharedBundle given;                              // the bundle that the user named, or null
  ElfBinaries binaries;
  VdsoImages vdsos;
  KernelFiles kernels;
};

class RecordingSymbolizer : public Symbolizer {
 public:
  // `shared` and `origin` must outlive this object.
  RecordingSymbolizer(SharedSources& shared, ProfileOrigin& origin);

  // Uses the kernel's files, the vdso, perf maps or the binary itself, depending on the mapping's
  // name. simpleperf's symbols come last, because they have no source lines.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  ElfSymbolizer& binaries() { return binaries_; }
  VdsoSymbolizer& vdso() { return vdso_; }
  KernelSymbolizer& kernel() { return kernel_; }

 private:
  Result<Resolution> ResolveByFiles(const convert::Profile& profile, convert::MappingId mapping,
                                    std::span<const FileOffset> offsets);
  Result<Resolution> ResolveKernel(const convert::Profile& profile, convert::MappingId mapping,
                                   std::span<const FileOffset> offsets);

  RecordingSources sources_;
  ElfSymbolizer binaries_;
  VdsoSymbolizer vdso_;
  KernelSymbolizer kernel_;
  std::optional<PerfMapSymbolizer> perf_maps_;  // created for the first mapping that needs it
};

}  // namespace perftape::symbolize
