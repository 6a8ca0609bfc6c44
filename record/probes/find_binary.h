// SPDX-License-Identifier: Apache-2.0
// Finds the program or library that a probe names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::record {

// Returns an absolute path. A name with a slash is a path. Any other name is a library, if the
// dynamic linker's cache has "NAME" or "NAME.so*" for this machine, otherwise a program in $PATH;
// symbolic links are resolved for these two. Fails with kNotFound; the message says where the name
// was searched for, and suggests libraries with similar names.
Result<std::filesystem::path> FindBinary(const std::string& name);

struct CachedLibrary {
  std::string name;  // "libc.so.6"
  std::string path;
};

// Returns the entries of /etc/ld.so.cache for programs of this machine's architecture and
// word size, in their order (glibc, sysdeps/generic/dl-cache.h). Stops at an invalid one.
std::vector<CachedLibrary> DecodeLibraryCache(Bytes cache);

}  // namespace perftape::record
