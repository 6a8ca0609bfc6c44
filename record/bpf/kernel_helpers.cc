// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/kernel_helpers.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>

namespace perftape::record {
namespace {

bool HasHelper(bpf_func_id helper) {
  return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, nullptr) == 1;
}

}  // namespace

bool HasAttachCookies() {
  return HasHelper(BPF_FUNC_get_attach_cookie);
}

bool HasTaskRegisters() {
  return HasHelper(BPF_FUNC_task_pt_regs);
}

}  // namespace perftape::record
