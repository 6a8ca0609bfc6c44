// SPDX-License-Identifier: Apache-2.0
// Maps a file by its name, which the tools do only after checking the open descriptor.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape {

// Maps the file at `path` as MappedFile::FromInput does. Returns its errors, and kNotFound.
inline Result<MappedFile> MapFile(const std::filesystem::path& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(path.native(), errno);
  return MappedFile::FromInput(fd.get(), path.native());
}

}  // namespace perftape
