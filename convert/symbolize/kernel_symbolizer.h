// SPDX-License-Identifier: Apache-2.0
// Resolves names of the kernel and its modules in one recording. They come from the first source
// that has them: a saved kallsyms, a vmlinux, a System.map, or the running kernel.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convert/symbolize/kallsyms_symbolizer.h"
#include "convert/symbolize/kernel_files.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

class KernelSymbolizer : public Symbolizer {
 public:
  // `files` and `recording` must outlive this object.
  KernelSymbolizer(KernelFiles& files, RecordingSources& recording);
  ~KernelSymbolizer() override;

  // Begins to read the first source on another thread, if it is a table in a file.
  void ReadAhead();

  // Returns the first table that belongs to the kernel of the recording; null if none does.
  std::shared_ptr<const KernelTable> FindTable(const convert::Profile& profile);

  // Tries one source after the other until one has names for the mapping.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  struct Opened {
    std::unique_ptr<Symbolizer> symbolizer = {};
    std::shared_ptr<const KernelTable> table = {};  // null for an ELF file or another kernel
  };
  // A source of names, opened at its first use.
  struct Source {
    std::string name;
    std::function<Result<Opened>()> open = {};
    std::function<void()> read_ahead = {};  // null: open cannot be prepared
    Opened opened = {};
    std::string problem = {};  // why it could not be opened
    bool is_vmlinux = false;   // or a System.map
    bool is_guess = false;     // one of many usual paths: not reported if there is no such file
  };

  // `profile` may be null, if only the recording describes the kernel.
  void ListSources(const convert::Profile* profile = nullptr);
  void AddBundles();
  void AddSymfs();
  void AddDirectory(const std::filesystem::path& directory);
  void AddKallsyms(const std::filesystem::path& path, const BuildId& build_id);
  void AddVmlinux(const std::filesystem::path& path);
  void AddRunningKernel();
  Opened NamesOf(std::shared_ptr<const KernelTable> table) const;
  // Adds lines to names from a table, using the first vmlinux in `later` of the same build id.
  void AddLines(Resolution& named, std::span<Source> later,
                const std::function<Result<Resolution>(Symbolizer&)>& resolve);
  bool HasLines(const Source& vmlinux);
  static bool Open(Source& source);

  KernelFiles& files_;
  RecordingSources& recording_;
  RecordedKernel kernel_;
  std::vector<Source> sources_;  // empty until the first Resolve or FindTable
  bool are_listed_ = false;
};

}  // namespace perftape::symbolize
