// SPDX-License-Identifier: Apache-2.0
// Files with the kernel's symbols. Each is opened once in a run, whichever recordings need it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/kallsyms_symbolizer.h"
#include "convert/symbolize/symbol_options.h"
#include "formats/base/build_id.h"
#include "formats/base/result.h"
#include "formats/bundle/bundle.h"

namespace perftape::symbolize {

inline constexpr char kRunningKallsyms[] = "/proc/kallsyms";

class KernelFiles {
 public:
  // `directories` are searched by build id, as DebugFiles does.
  KernelFiles(const SymbolOptions& options, std::vector<std::filesystem::path> directories)
      : options_(options), directories_(std::move(directories)) {}

  const SymbolOptions& options() const { return options_; }
  const std::vector<std::filesystem::path>& directories() const { return directories_; }

  // Fails if the options name a kallsyms or a vmlinux that cannot be read.
  Status CheckGiven();

  // A kallsyms or System.map. `build_id` is the kernel's that it is of; empty if unknown.
  Result<std::shared_ptr<const KernelTable>> TableAt(const std::filesystem::path& path,
                                                     const BuildId& build_id);
  Result<std::shared_ptr<ElfBinary>> VmlinuxAt(const std::filesystem::path& path);

  // The kallsyms in `bundle` of the kernel with `build_id`, or any if that is empty.
  Result<std::shared_ptr<const KernelTable>> TableIn(const bundle::Bundle& bundle,
                                                     const BuildId& build_id);
  // The table that TableIn found for this build id before; null if there is none.
  std::shared_ptr<const KernelTable> BundledTable(const BuildId& build_id) const;

 private:
  SymbolOptions options_;
  std::vector<std::filesystem::path> directories_;
  std::map<std::string, Result<std::shared_ptr<const KernelTable>>> tables_;  // by path
  std::map<std::string, Result<std::shared_ptr<ElfBinary>>> vmlinuxes_;       // by path
  std::map<BuildId, std::shared_ptr<const KernelTable>> bundled_;
};

// The build id of the kernel that runs; empty if it cannot be read.
BuildId RunningKernelBuildId();

}  // namespace perftape::symbolize
