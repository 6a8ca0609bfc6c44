// SPDX-License-Identifier: Apache-2.0
// Reads the process context of another process (formats/otlp/process_context.h) from its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// Returns the header of the context of process `pid` and its payload, which follows it. Reads only
// memory without a file and that of memfds: a page of another file may need a file system that
// never answers. The process may map one meanwhile, so call this function where waiting does no
// harm.
//
// Fails with kNotFound if the process has ended, or publishes no context, or changes it now; with
// kPermission if its memory may not be read; and with the errors of DecodeProcessContextHeader.
// `proc` is /proc, or a directory that a test made.
Result<std::vector<std::byte>> ReadProcessContext(const std::filesystem::path& proc,
                                                  std::uint32_t pid);

}  // namespace perftape::record
