// SPDX-License-Identifier: Apache-2.0
// A setting of the kernel, as sysctl(8) shows it.
#pragma once

#include <optional>
#include <string_view>

namespace perftape::record {

// Returns the number in /proc/sys/kernel/`name`; nothing if the file is missing or unreadable.
std::optional<int> ReadKernelSetting(std::string_view name);

}  // namespace perftape::record
