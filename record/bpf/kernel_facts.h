// SPDX-License-Identifier: Apache-2.0
// What BPF reveals about the running kernel: its functions for programs, the number of a cgroup
// controller, the addresses of its text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/base/library_version.h"
#include "formats/base/result.h"
#include "record/machine/kernel_maps.h"

namespace perftape::record {

// Which functions the kernel offers to the sampling programs. Needs CAP_BPF: without it, the kernel
// seems to have none.
// bpf_get_attach_cookie (Linux 5.15): one program serves several events.
bool HasAttachCookies();

// bpf_task_pt_regs (Linux 5.15): the registers of the user code below a sample in the kernel.
bool HasTaskRegisters();

// bpf_for_each_map_elem (Linux 5.13).
bool CanVisitMaps();

// The number of arguments of a tracepoint; nothing if the kernel's BTF does not describe it, so
// that programs cannot be attached with these arguments (tp_btf).
std::optional<std::uint32_t> ArgumentsOfTracepoint(const std::string& name);

// Returns the index of the first of `controllers` ("cpu", "blkio") that the kernel has, in the
// array css_set.subsys (include/linux/cgroup-defs.h, enum cgroup_subsys_id). Its BTF has the
// number, which depends on the kernel's configuration. Fails with kUnsupported without BTF.
Result<std::uint32_t> CgroupSubsystem(std::span<const std::string> controllers);

// Looks the symbols up in the kernel, which takes a millisecond. Returns nothing if a BPF program
// cannot do it: before Linux 5.16, and where kallsyms hides addresses from this process.
std::optional<KernelText> LookUpKernelText();

// The section of the scheduler's functions, and the function schedule(); 0 if there is none.
struct SchedulerText {
  std::uint64_t start = 0, end = 0, schedule = 0;
};
// As LookUpKernelText.
std::optional<SchedulerText> LookUpSchedulerText();

LibraryVersion LibbpfVersion();

}  // namespace perftape::record
