// SPDX-License-Identifier: Apache-2.0
// The CPUs of this machine.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// Returns the CPUs that are online. `sys_root` is /sys, or a directory that a test made.
Result<std::vector<int>> OnlineCpus(const std::filesystem::path& sys_root = "/sys");

// Returns the CPUs that exist, online or not.
Result<std::vector<int>> PresentCpus(const std::filesystem::path& sys_root = "/sys");

}  // namespace perftape::record
