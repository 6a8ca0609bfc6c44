// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_names.h"

namespace perftape::perfdata {

void KernelNames::Add(CpuMode mode, std::string_view filename) {
  if (mode != CpuMode::kKernel) return;
  if (std::string module = ModuleNameOf(filename); !module.empty()) {
    modules_.try_emplace(std::move(module), filename);
  } else if (!has_kernel_) {
    has_kernel_ = true;
    // Old perf wrote "[kernel.kallsyms]_text". Processes uses the name without the symbol.
    if (!filename.starts_with(kKernelMappingName)) kernel_ = filename;
  }
}

std::string KernelNames::NameOf(const Dso& dso) const {
  if (!dso.is_kernel || !dso.symbol.empty()) return dso.path;
  if (dso.path == kKernelMappingName) return kernel_;
  const std::string module = ModuleNameOf(dso.path);
  if (module.empty()) return dso.path;
  const auto listed = modules_.find(module);
  return listed == modules_.end() ? "[" + module + "]" : listed->second;
}

}  // namespace perftape::perfdata
