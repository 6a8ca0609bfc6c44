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

// The CPUs of a list, ascending, each once; none for an empty text. kInvalidArgument, naming the
// part that is wrong, for anything else than numbers and ranges, and for CPUs beyond 65535.
Result<std::vector<int>> ParseCpuList(std::string_view text);

// The shortest list of ascending CPUs: "0-3,7".
std::string FormatCpuList(std::span<const int> cpus);

// The CPUs that run now; `sys_root` is /sys or a tree made for a test.
Result<std::vector<int>> OnlineCpus(const std::filesystem::path& sys_root = "/sys");

// The CPUs that are there, running or not.
Result<std::vector<int>> PresentCpus(const std::filesystem::path& sys_root = "/sys");

}  // namespace perftape::record
