// SPDX-License-Identifier: Apache-2.0
// The mappings of the kernel when a recording starts, as records at time 0: its text, its modules
// and the loaded BPF programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/machine/loaded_bpf_programs.h"

namespace perftape::record {

// The addresses of the symbols that bound the kernel's text; 0: hidden or missing.
struct KernelText {
  std::uint64_t text = 0, stext = 0, etext = 0;
};

// The directories to read; tests use their own.
struct SystemRoots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::filesystem::path modules = {};   // /lib/modules/RELEASE; empty: of the running kernel
  std::optional<KernelText> text = {};  // nothing: as in proc/kallsyms
};

// The pid of the kernel's mappings.
inline constexpr std::uint32_t kKernelPid = UINT32_MAX;

// Appends MMAP "[kernel.kallsyms]_text" and a MMAP for each module. Returns warnings for the
// summary, one sentence each. If addresses are hidden (kptr_restrict), there are no mappings, and
// kernel frames will have no names. Without /proc/modules the kernel has no modules.
//
// Start and page_offset are the address of _text, or _stext: readers move the kernel's symbols by
// the difference to the symbol of that name (tools/perf/util/machine.c,
// machine__process_kernel_mmap_event). The end is _etext, as in perf 6.1.
Result<std::vector<std::string>> AppendKernelMaps(const SystemRoots& roots,
                                                  const perfdata::SampleFormat& format,
                                                  std::vector<std::byte>& out);

// Appends KSYMBOL for each function of each program, followed by its BPF_EVENT
// (tools/perf/util/bpf-event.c, perf_event__synthesize_one_bpf_prog). Leaves out functions whose
// address is hidden, and programs that have no other functions.
Status AppendBpfPrograms(std::span<const BpfProgram> programs, const perfdata::SampleFormat& format,
                         std::vector<std::byte>& out);

}  // namespace perftape::record
