// SPDX-License-Identifier: Apache-2.0
// The system calls of this architecture, by name. The table is made of <sys/syscall.h> when the
// recorder is built.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace perftape::record {

// "openat": SYS_openat. Nothing for a name that the C library did not know.
std::optional<std::uint32_t> SystemCallNumber(std::string_view name);

// All names, sorted.
std::vector<std::string_view> SystemCallNames();

}  // namespace perftape::record
