// SPDX-License-Identifier: Apache-2.0
// The system calls of one architecture, that of this build, by name and number. The table is made
// of <sys/syscall.h> at build time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace perftape::perfdata {

// "openat": SYS_openat. Nothing for a name that the C library did not know.
std::optional<std::uint32_t> SystemCallNumber(std::string_view name);

// All names, sorted.
std::vector<std::string_view> SystemCallNames();

// The name of a call of a recording of `arch`, as HEADER_ARCH has it: "x86_64". Empty for an
// unknown number, and if the table is of another architecture.
std::string_view SystemCallName(std::string_view arch, std::uint64_t number);

}  // namespace perftape::perfdata
