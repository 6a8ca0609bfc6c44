// SPDX-License-Identifier: Apache-2.0
// Probes of the kernel's functions by BPF trampolines: fentry and fexit (Linux 5.5).
#pragma once

#include <string>

#include "formats/base/result.h"
#include "record/probes/probe_spec.h"

namespace perftape::record {

// Loads a program for this function of the kernel, attaches it for a moment, and frees it: a kernel
// may refuse either. Fails with kPermission if the kernel refuses such programs, and with
// kUnsupported if it has none, or if the function cannot be probed.
Status TryTrampoline(ProbeKind kind, const std::string& function);

}  // namespace perftape::record
