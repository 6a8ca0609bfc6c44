// SPDX-License-Identifier: Apache-2.0
// Probes of the kernel's functions by BPF trampolines: fentry and fexit (Linux 5.5).
#pragma once

#include <string>

#include "formats/base/result.h"
#include "record/probes/probe_spec.h"

struct bpf_program;
struct trampoline_bpf;

namespace perftape::record {

// Loads a program for this function of the kernel, attaches it for a moment, and frees it: a kernel
// may refuse either. Fails with kPermission if the kernel refuses such programs, and with
// kUnsupported if it has none, or if the function cannot be probed.
Status TryTrampoline(ProbeKind kind, const std::string& function);

// The program of the skeleton for this kind of probe, kFentry or kFexit.
bpf_program* ProgramFor(const trampoline_bpf& skeleton, ProbeKind kind);

// Sets the function of the kernel that this program is called for. The other program is not loaded.
// Returns 0 or the negative errno.
int SetFunction(const trampoline_bpf& skeleton, ProbeKind kind, const std::string& function);

}  // namespace perftape::record
