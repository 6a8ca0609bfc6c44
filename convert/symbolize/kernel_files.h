// SPDX-License-Identifier: Apache-2.0
// The files with symbols of kernels. Each is opened once per run, for all recordings.
#pragma once

#include <filesystem>
#include <future>
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
  // `directories` are searched by build id, as in DebugFiles.
  KernelFiles(const SymbolOptions& options, std::vector<std::filesystem::path> directories)
      : options_(options), directories_(std::move(directories)) {}

  const SymbolOptions& options() const { return options_; }
  const std::vector<std::filesystem::path>& directories() const { return directories_; }

  // Fails if the options name a kallsyms or a vmlinux that cannot be read.
  Status CheckGiven();

  // Opens a kallsyms or System.map. `build_id` is that of its kernel; empty if unknown.
  Result<std::shared_ptr<const KernelTable>> TableAt(const std::filesystem::path& path,
                                                     const BuildId& build_id);
  // Begins to read a table on another thread. TableAt then waits for it.
  void ReadAhead(const std::filesystem::path& path, const BuildId& build_id);
  Result<std::shared_ptr<ElfBinary>> VmlinuxAt(const std::filesystem::path& path);

  // Returns the kallsyms in `bundle` for the kernel with `build_id`, or for any kernel if that is
  // empty.
  Result<std::shared_ptr<const KernelTable>> TableIn(const bundle::Bundle& bundle,
                                                     const BuildId& build_id);
  // Returns the table that TableIn found before for this build id, or null.
  std::shared_ptr<const KernelTable> BundledTable(const BuildId& build_id) const;

 private:
  using Table = Result<std::shared_ptr<const KernelTable>>;
  Table ReadTable(const std::filesystem::path& path, const BuildId& build_id) const;

  SymbolOptions options_;
  std::vector<std::filesystem::path> directories_;
  std::map<std::string, Table> tables_;                                  // by path
  std::map<std::string, Result<std::shared_ptr<ElfBinary>>> vmlinuxes_;  // by path
  std::map<BuildId, std::shared_ptr<const KernelTable>> bundled_;
  // By path. Its threads use this object, so it is destroyed first.
  std::map<std::string, std::future<Table>> ahead_;
};

// Returns the build id of the running kernel; empty if it cannot be read.
BuildId RunningKernelBuildId();

}  // namespace perftape::symbolize
