// SPDX-License-Identifier: Apache-2.0
// Extracts the members of a bundle into a directory such as ~/.debug. It writes nothing outside
// that directory, whatever names and links the archive or the directory contains. It opens each
// path component from its parent's descriptor, and follows no symbolic link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/bundle/bundle.h"

namespace perftape::bundle {

struct ExtractOptions {
  IfExists if_exists = IfExists::kRefuse;  // kReplace: replaces existing files that differ
  // Whether the machine already has this file, so that it need not be written. A slim copy in a
  // cache would hide the binary from perf annotate. Called only for files with a build id.
  std::function<bool(const BundledFile&, Bytes content)> is_on_machine = {};
};

struct ExtractReport {
  std::uint64_t written = 0;        // files and links
  std::uint64_t bytes = 0;          // of the files
  std::uint64_t already_there = 0;  // equal files, or files of the same build id: perf's are whole
  std::uint64_t on_machine = 0;     // not written because of is_on_machine
  std::vector<std::string> kept;    // existing files that differ and were not replaced
};

// Writes all members except the manifest and the notes, and a marker for each file that it writes
// (marker.h). Creates `directory` if it does not exist. Files have the mode 0666 without the bits
// of the umask. A file gets its name only when it is complete.
//
// Returns kInvalidArgument if a file or a link exists where a directory is needed, kPermission, or
// kIo. Files that were written before the error stay.
Result<ExtractReport> Extract(const Bundle& bundle, const std::filesystem::path& directory,
                              const ExtractOptions& options = {});

}  // namespace perftape::bundle
