// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/kernel_text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <string>

#include "bpf/wire.h"
#include "kernel_text.skel.h"
#include "record/bpf/libbpf_log.h"
#include "record/bpf/skeleton.h"

namespace perftape::record {
namespace {

std::optional<wire_kernel_text> FindKernelText() {
  std::string log;  // the caller has another way
  const CapturedLog captured(log, nullptr);
  const Skeleton<kernel_text_bpf> skeleton(kernel_text_bpf__open_and_load());
  if (!skeleton) return std::nullopt;
  wire_kernel_text found = {};
  bpf_test_run_opts run = {};
  run.sz = sizeof run;
  run.ctx_in = &found;
  run.ctx_size_in = sizeof found;
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.find_kernel_text), &run) != 0) {
    return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<KernelText> LookUpKernelText() {
  const std::optional<wire_kernel_text> found = FindKernelText();
  if (!found || found->etext == 0) return std::nullopt;
  return KernelText{.text = found->text, .stext = found->stext, .etext = found->etext};
}

std::optional<SchedulerText> LookUpSchedulerText() {
  const std::optional<wire_kernel_text> found = FindKernelText();
  if (!found || found->sched_text == 0 || found->sched_text_end == 0) return std::nullopt;
  return SchedulerText{
      .start = found->sched_text, .end = found->sched_text_end, .schedule = found->schedule};
}

}  // namespace perftape::record
