// SPDX-License-Identifier: Apache-2.0
// The libraries of a Firefox profile, as samply writes them for ELF files.
#pragma once

#include <string>
#include <string_view>

namespace perftape::viewers {

// Returns the id that names the debug information of an ELF file in Breakpad's way: the first 16
// bytes of the build id as a little-endian GUID in upper-case hex, and "0" for its age. Zeros
// replace missing digits. Empty if the build id is empty or not hex.
std::string BreakpadIdOf(std::string_view build_id);

struct FirefoxLib {
  std::string_view path, build_id;
  std::string_view arch;  // "x86_64"; empty if unknown
};

// Appends the JSON object of a library.
void AppendFirefoxLib(std::string& out, const FirefoxLib& lib);

}  // namespace perftape::viewers
