// SPDX-License-Identifier: Apache-2.0
// The version of an outside library, for --version. The folder that uses the library returns it.
#pragma once

#include <string>

namespace perftape {
inline namespace base {

struct LibraryVersion {
  std::string name;  // "libarchive"
  // The version of the library that is linked at run time, if it has a function that returns it;
  // otherwise that of the headers.
  std::string version;
};

LibraryVersion ZstdVersion();

}  // namespace base
}  // namespace perftape
