// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/kernel_helpers.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>

namespace perftape::record {
namespace {

bool CanCall(bpf_func_id function) {
  return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, function, nullptr) == 1;
}

}  // namespace

bool HasAttachCookies() {
  return CanCall(BPF_FUNC_get_attach_cookie);
}

bool HasTaskRegisters() {
  return CanCall(BPF_FUNC_task_pt_regs);
}

}  // namespace perftape::record
