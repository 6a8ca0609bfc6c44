// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/kernel_facts.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>

#include <algorithm>
#include <string_view>

#include "bpf/wire.h"
#include "formats/base/text.h"
#include "kernel_text.skel.h"
#include "record/bpf/skeleton.h"
#include "record/machine/btf_types.h"

namespace perftape::record {
namespace {

bool CanCall(bpf_func_id function) {
  return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, function, nullptr) == 1;
}

// The constant of a controller: "cpu_cgrp_id". Version 1 mounts "io" under its old name
// (block/blk-cgroup.c, legacy_name).
std::string ConstantOf(std::string_view controller) {
  return fmt::format("{}_cgrp_id", controller == "blkio" ? "io" : controller);
}

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

bool HasAttachCookies() {
  return CanCall(BPF_FUNC_get_attach_cookie);
}

bool CanVisitMaps() {
  return CanCall(BPF_FUNC_for_each_map_elem);
}

// include/trace/bpf_probe.h: typedef void (*btf_trace_NAME)(void *, ARGUMENTS);
std::optional<std::uint32_t> ArgumentsOfTracepoint(const std::string& name) {
  static const BtfTypes kTypes(btf__load_vmlinux_btf());
  if (!kTypes) return {};
  const __s32 id =
      btf__find_by_name_kind(kTypes.get(), ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF);
  const btf_type* type = id > 0 ? btf__type_by_id(kTypes.get(), static_cast<__u32>(id)) : nullptr;
  while (type != nullptr && (btf_is_typedef(type) || btf_is_ptr(type))) {
    type = btf__type_by_id(kTypes.get(), type->type);
  }
  if (type == nullptr || !btf_is_func_proto(type) || btf_vlen(type) == 0) return {};
  return btf_vlen(type) - 1U;
}

bool HasTaskRegisters() {
  return CanCall(BPF_FUNC_task_pt_regs);
}

Result<std::uint32_t> CgroupSubsystem(std::span<const std::string> controllers) {
  const BtfTypes types(btf__load_vmlinux_btf());
  const int number =
      types ? btf__find_by_name_kind(types.get(), "cgroup_subsys_id", BTF_KIND_ENUM) : -1;
  if (number < 0) {
    return Fail(ErrorCode::kUnsupported, "the kernel does not describe its cgroup controllers");
  }
  const btf_type* const type = btf__type_by_id(types.get(), static_cast<__u32>(number));
  const std::span<const struct btf_enum> values(btf_enum(type), btf_vlen(type));
  for (const std::string& controller : controllers) {
    const auto found = std::ranges::find(values, ConstantOf(controller), [&](const auto& value) {
      return std::string_view(btf__name_by_offset(types.get(), value.name_off));
    });
    if (found != values.end()) return static_cast<std::uint32_t>(found->val);
  }
  return Fail(ErrorCode::kUnsupported,
              fmt::format("the kernel has no cgroup controller {}", Joined(controllers, " or ")));
}

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

LibraryVersion LibbpfVersion() {
  std::string_view text = libbpf_version_string();  // "v1.1"
  if (text.starts_with('v')) text.remove_prefix(1);
  return {.name = "libbpf", .version = std::string(text)};
}

}  // namespace perftape::record
