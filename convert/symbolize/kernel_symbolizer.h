// SPDX-License-Identifier: Apache-2.0
// Names of the kernel and its modules, from the first place that has them: a saved kallsyms, a
// vmlinux, a System.map, or the running kernel.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convert/symbolize/elf_binary.h"
#include "convert/symbolize/kallsyms_symbolizer.h"
#include "convert/symbolize/recording.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

class KernelSymbolizer : public Symbolizer {
 public:
  // `directories` as DebugFiles has them. An Error where `options` names a kallsyms or a vmlinux
  // that cannot be read.
  static Result<std::unique_ptr<KernelSymbolizer>> Create(
      const SymbolOptions& options, std::vector<std::filesystem::path> directories);
  ~KernelSymbolizer() override;

  // From here on the kernel is that of `recording`, which must live until the next call; `bundles`
  // are its, asked for when one of them is needed.
  void BeginRecording(const Recording& recording,
                      std::function<std::vector<SharedBundle>()> bundles);

  // The first table that belongs to the kernel of the recording; null where none does.
  std::shared_ptr<const KernelTable> FindTable(const convert::Profile& profile);

  // Asks one place after the other, until one has names for the mapping.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  // A place, opened when its turn comes.
  struct Place {
    std::string name;
    std::function<Result<std::unique_ptr<Symbolizer>>(const RecordedKernel&)> open = {};
    std::unique_ptr<Symbolizer> symbolizer = {};  // once opened
    std::string problem = {};                     // why it could not be
    bool is_vmlinux = false;                      // or a System.map
    bool is_guess = false;  // of many that may be there: no word of it if it is not
  };
  using Tables = std::map<std::string, Result<std::shared_ptr<const KernelTable>>>;

  KernelSymbolizer(const SymbolOptions& options, std::vector<std::filesystem::path> directories);
  void ListPlaces(const convert::Profile& profile);
  void AddBundles();
  void AddSymfs();
  void AddDirectory(const std::filesystem::path& directory);
  void AddKallsyms(const std::filesystem::path& path, const BuildId& build_id);
  void AddVmlinux(const std::filesystem::path& path);
  void AddRunningKernel();
  Result<std::shared_ptr<const KernelTable>> TableOf(const std::filesystem::path& path,
                                                     const BuildId& build_id);
  Result<std::shared_ptr<ElfBinary>> VmlinuxAt(const std::filesystem::path& path);
  // Adds lines to names of a table: those of the first vmlinux in `later` of the same build id.
  void AddLines(Resolution& named, std::span<Place> later,
                const std::function<Result<Resolution>(Symbolizer&)>& resolve);
  bool HasLines(const Place& vmlinux);
  static bool Open(Place& place, const RecordedKernel& kernel);

  SymbolOptions options_;
  std::vector<std::filesystem::path> directories_;
  // Kept from one recording to the next.
  Tables tables_;                                                     // by path
  std::map<BuildId, std::shared_ptr<const KernelTable>> of_bundles_;  // by the kernel's build id
  std::map<std::string, Result<std::shared_ptr<ElfBinary>>> vmlinuxes_;

  const Recording* recording_ = nullptr;
  std::function<std::vector<SharedBundle>()> bundles_;
  RecordedKernel kernel_;
  std::vector<Place> places_;  // of this recording
  bool are_listed_ = false;
};

}  // namespace perftape::symbolize
