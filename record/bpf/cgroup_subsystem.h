// SPDX-License-Identifier: Apache-2.0
// The number of a cgroup controller in the running kernel. Uses libbpf.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/base/result.h"

namespace perftape::record {

// Returns the index of the first of `controllers` ("cpu", "blkio") that the kernel has, in the
// array css_set.subsys (include/linux/cgroup-defs.h, enum cgroup_subsys_id). Its BTF has the
// number, which depends on the kernel's configuration. Fails with kUnsupported without BTF.
Result<std::uint32_t> CgroupSubsystem(std::span<const std::string> controllers);

}  // namespace perftape::record
