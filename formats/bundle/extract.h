// SPDX-License-Identifier: Apache-2.0
// Extracts the members of a bundle into a directory such as ~/.debug. It writes nothing outside
// that directory, whatever names and links the archive or the directory has: each path component is
// opened from its parent's descriptor, and no symbolic link is followed.
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
  IfExists if_exists = IfExists::kRefuse;  // kReplace: what is there and differs is replaced
  // Whether the machine has a file itself, so that it is not written: in a cache, a slim copy hides
  // the binary from perf annotate. Asked of files with a build id only.
  std::function<bool(const BundledFile&, Bytes content)> is_on_machine = {};
};

struct ExtractReport {
  std::uint64_t written = 0;        // files and links
  std::uint64_t bytes = 0;          // of the files
  std::uint64_t already_there = 0;  // the same, or of the same build id: perf has it whole
  std::uint64_t on_machine = 0;     // not written, since is_on_machine
  std::vector<std::string> kept;    // there, different, and not replaced
};

// Writes all members but the manifest, which is the bundle's, not the directory's; and a marker for
// each file that it writes (marker.h). Makes `directory` where it is not there. Files have the mode
// that the umask makes of 0666; each has its name only when it is complete.
//
// kInvalidArgument where a file is in the way of a directory, or a link; kPermission, kIo. What was
// written before stays.
Result<ExtractReport> Extract(const Bundle& bundle, const std::filesystem::path& directory,
                              const ExtractOptions& options = {});

}  // namespace perftape::bundle
