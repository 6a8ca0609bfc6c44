// SPDX-License-Identifier: Apache-2.0
// The symbolizer of this machine: for each mapping the source of names that fits it.
#pragma once

#include <optional>

#include "convert/symbolize/elf_symbolizer.h"
#include "convert/symbolize/kallsyms_symbolizer.h"
#include "convert/symbolize/perf_map_symbolizer.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/vdso.h"

namespace perftape {

class LocalSymbolizer : public Symbolizer {
 public:
  // An Error where `options` names a kallsyms that cannot be read. The running kernel's own is read
  // when the first kernel mapping asks for it.
  static Result<std::unique_ptr<LocalSymbolizer>> Create(const SymbolOptions& options);

  Result<Resolution> Resolve(const Profile& profile, MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  explicit LocalSymbolizer(const SymbolOptions& options);
  Result<Symbolizer*> Choose(const Mapping& mapping, std::string_view filename);
  Status ReadRunningKernel();

  ElfSymbolizer elf_;
  PerfMapSymbolizer perf_maps_;
  std::optional<KallsymsSymbolizer> kernel_;
  std::optional<VdsoSymbolizer> vdso_;
  Status running_kernel_read_;  // the error of the one attempt
  bool has_tried_kernel_ = false;
};

}  // namespace perftape
