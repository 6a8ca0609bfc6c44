// SPDX-License-Identifier: Apache-2.0
// From what a recording says of a binary to files of this machine that can name its functions. A
// build id in the recording is always compared: a file of another build gives wrong names, which is
// worse than none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "convert/symbolize/symbolizer.h"
#include "formats/base/build_id.h"
#include "formats/elf/elf_file.h"

namespace perftape {

// `image` is what was mapped, or where only that is left its debug file: it knows the addresses.
// `debug` is the separate debug file, with more names. Without an image, `miss` says why.
struct DebugFile {
  std::optional<elf::ElfFile> image;
  std::optional<elf::ElfFile> debug;
  Miss miss = Miss::kNone;
  std::string problem;  // which files were looked at and why they were not used; empty on success
};

class DebugFiles {
 public:
  // `debug_directory` as /usr/lib/debug, `build_id_cache` as ~/.debug; empty paths are not
  // searched.
  DebugFiles(std::filesystem::path debug_directory, std::filesystem::path build_id_cache);

  // Looks for the image at `filename` itself, then in the cache; for debug files in the cache and
  // in the directory, by build id. Without a recorded build id the file at `filename` is taken as
  // it is.
  DebugFile Find(const std::string& filename, const BuildId& build_id) const;

 private:
  std::filesystem::path debug_directory_;
  std::filesystem::path build_id_cache_;
};

}  // namespace perftape
