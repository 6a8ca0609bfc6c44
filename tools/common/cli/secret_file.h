// SPDX-License-Identifier: Apache-2.0
// Small files that a program reads again while it runs: tokens, headers, certificates.
#pragma once

#include <string>

#include "formats/base/result.h"

namespace perftape::cli {

// Returns the content of a regular file. Others, which may let the reader wait, are
// kInvalidArgument; kCorrupt is a file of more than 4 MiB.
Result<std::string> ReadSmallFile(const std::string& path);
// The same. Fails with kInvalidArgument for a file that other users can read or write.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace perftape::cli
