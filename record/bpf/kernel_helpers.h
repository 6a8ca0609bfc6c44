// SPDX-License-Identifier: Apache-2.0
// Which functions the running kernel offers to the sampling programs. Needs CAP_BPF: without it,
// the kernel seems to have none.
#pragma once

namespace perftape::record {

// bpf_get_attach_cookie (Linux 5.15): one program serves several events.
bool HasAttachCookies();

// bpf_task_pt_regs (Linux 5.15): the registers of the user code below a sample in the kernel.
bool HasTaskRegisters();

}  // namespace perftape::record
