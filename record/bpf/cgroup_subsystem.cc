// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/cgroup_subsystem.h"

#include <bpf/btf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace perftape::record {
namespace {

struct FreeBtf {
  void operator()(btf* types) const { btf__free(types); }
};

// The constant of a controller: "cpu_cgrp_id". Version 1 mounts "io" under its old name
// (block/blk-cgroup.c, legacy_name).
std::string ConstantOf(std::string_view controller) {
  return fmt::format("{}_cgrp_id", controller == "blkio" ? "io" : controller);
}

}  // namespace

Result<std::uint32_t> CgroupSubsystem(std::span<const std::string> controllers) {
  const std::unique_ptr<btf, FreeBtf> types(btf__load_vmlinux_btf());
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
  return Fail(ErrorCode::kUnsupported, fmt::format("the kernel has no cgroup controller {}",
                                                   fmt::join(controllers, " or ")));
}

}  // namespace perftape::record
