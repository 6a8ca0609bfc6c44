// SPDX-License-Identifier: Apache-2.0
// One of the kernel's settings, as sysctl(8) shows it.
#pragma once

#include <optional>
#include <string_view>

namespace perftape::record {

// The number in /proc/sys/kernel/`name`; nothing where there is none, or it may not be read.
std::optional<int> ReadKernelSetting(std::string_view name);

}  // namespace perftape::record
