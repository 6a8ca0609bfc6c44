// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs as the kernel and the user write them: "0-3,7" (Documentation/admin-guide/
// kernel-parameters.rst, "cpu lists").
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// Returns the CPUs of a list, ascending and without duplicates; none for an empty text. Fails with
// kInvalidArgument for anything except numbers and ranges, and for CPUs above 65535. The message
// quotes the wrong element.
Result<std::vector<int>> ParseCpuList(std::string_view text);

// Returns the shortest list of ascending CPUs: "0-3,7".
std::string FormatCpuList(std::span<const int> cpus);

// Returns the CPUs that are online. `sys_root` is /sys, or a directory that a test made.
Result<std::vector<int>> OnlineCpus(const std::filesystem::path& sys_root = "/sys");

// Returns the CPUs that exist, online or not.
Result<std::vector<int>> PresentCpus(const std::filesystem::path& sys_root = "/sys");

}  // namespace perftape::record
