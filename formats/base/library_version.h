// SPDX-License-Identifier: Apache-2.0
// The outside libraries of a program, for --version. The folder that uses a library tells its
// version.
#pragma once

#include <string>

namespace perftape {
inline namespace base {

struct LibraryVersion {
  std::string name;  // "libarchive"
  std::string
      version;  // of the library that is linked at run time if it tells, else of its headers
};

LibraryVersion ZstdVersion();

}  // namespace base
}  // namespace perftape
