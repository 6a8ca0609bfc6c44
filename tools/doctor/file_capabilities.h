// SPDX-License-Identifier: Apache-2.0
// The capabilities that a program gets from its file (capabilities(7), "File capabilities").
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/base/bytes.h"

namespace perftape::doctor_tool {

// Returns the capabilities that are effective when the program starts, one bit each; 0 if the file
// has none or is not there.
std::uint64_t FileCapabilities(const std::filesystem::path& program);

// Decodes the extended attribute "security.capability" (linux/capability.h, struct vfs_cap_data and
// vfs_ns_cap_data). Returns 0 for other bytes.
std::uint64_t DecodeFileCapabilities(Bytes attribute);

}  // namespace perftape::doctor_tool
