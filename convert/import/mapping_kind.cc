// SPDX-License-Identifier: Apache-2.0
#include "convert/import/mapping_kind.h"

#include <algorithm>
#include <array>

#include "formats/perfdata/kernel_names.h"

namespace perftape::convert {
namespace {

// What the kernel calls parts of a process in /proc/PID/maps (fs/proc/task_mmu.c, arch_vma_name),
// and what profilers call user code that is in no file.
constexpr std::array<std::string_view, 19> kOfProcesses = {
    "[anon",    "[folded", "[gate",    "[heap",     "[jit",     "[lost",  "[memfd",
    "[native",  "[rom",    "[shadow",  "[sigpage",  "[sigtram", "[stack", "[unknown",
    "[uprobes", "[vdso",   "[vectors", "[vsyscall", "[vvar"};

constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 63;

bool IsOfProcesses(std::string_view filename) {
  return std::ranges::any_of(kOfProcesses,
                             [&](std::string_view it) { return filename.starts_with(it); });
}

// "nf_tables.ko", and compressed: "nf_tables.ko.zst".
bool IsModuleFile(std::string_view name) {
  const std::size_t at = name.rfind(".ko");
  if (at == std::string_view::npos) return false;
  const std::string_view rest = name.substr(at + 3);
  return rest.empty() || rest == ".gz" || rest == ".xz" || rest == ".zst" || rest == ".debug";
}

}  // namespace

MappingKind KindOfMapping(std::string_view filename, std::uint64_t start) {
  if (IsOfProcesses(filename)) return MappingKind::kUser;
  const std::string_view name = BaseName(filename);
  const bool is_kernel = filename.starts_with('[') || perfdata::IsVmlinuxName(filename) ||
                         IsModuleFile(name) || start >= kUpperHalf;
  return is_kernel ? MappingKind::kKernel : MappingKind::kUser;
}

}  // namespace perftape::convert
