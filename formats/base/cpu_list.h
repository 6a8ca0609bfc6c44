// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs as the kernel, perf and users write them: "0-3,7" (Documentation/admin-guide/
// kernel-parameters.rst, "cpu lists").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// Returns the CPUs of a list, ascending and without duplicates. Fails with kInvalidArgument for
// anything except numbers and ranges, and for CPUs above 65535. The message quotes the wrong
// element: "'3-1' is not a CPU or a range of CPUs".
Result<std::vector<int>> CpuListOf(std::string_view text);

// Returns the shortest list of ascending CPUs: "0-3,7".
std::string FormatCpuList(std::span<const int> cpus);

}  // namespace base
}  // namespace perftape
