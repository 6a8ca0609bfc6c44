// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_names.h"

#include <algorithm>
#include <array>

namespace perftape::perfdata {
namespace {

// tools/perf/util/dso.c, __kmod_path__parse: names in brackets that are none of modules.
constexpr std::array<std::string_view, 6> kNoModules = {
    kKernelMapName, "[guest.kernel.kallsyms", "[vdso]", "[vdso32]", "[vdsox32]", "[vsyscall]"};

std::string ModuleOf(std::string_view filename) {
  const Dso dso{.path = std::string(filename), .build_id = {}, .is_kernel = true, .symbol = {}};
  return filename.starts_with('[') ? dso.path : dso.module_name();
}

}  // namespace

bool IsModuleName(std::string_view filename) {
  const std::string_view name = filename.substr(filename.rfind('/') + 1);
  if (name.starts_with('[')) {
    return std::ranges::none_of(kNoModules,
                                [&](std::string_view it) { return name.starts_with(it); });
  }
  return !ModuleOf(filename).empty();
}

bool IsVmlinuxName(std::string_view filename) {
  return filename.substr(filename.rfind('/') + 1).starts_with("vmlinux");
}

void KernelNames::Add(CpuMode mode, std::string_view filename) {
  if (mode != CpuMode::kKernel) return;
  if (IsModuleName(filename)) {
    modules_.try_emplace(ModuleOf(filename), filename);
  } else if (!has_kernel_) {
    has_kernel_ = true;
    // Old perf wrote "[kernel.kallsyms]_text", which Processes knows by the shorter name.
    if (!filename.starts_with(kKernelMapName)) kernel_ = filename;
  }
}

std::string KernelNames::NameOf(const Dso& dso) const {
  if (!dso.is_kernel || !dso.symbol.empty()) return dso.path;
  if (dso.path == kKernelMapName) return kernel_;
  if (!IsModuleName(dso.path)) return dso.path;
  const std::string module = ModuleOf(dso.path);
  const auto listed = modules_.find(module);
  return listed == modules_.end() ? module : listed->second;
}

}  // namespace perftape::perfdata
