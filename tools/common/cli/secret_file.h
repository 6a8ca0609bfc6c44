// SPDX-License-Identifier: Apache-2.0
// Files with secrets: tokens and headers.
#pragma once

#include <string>

#include "formats/base/result.h"

namespace perftape::cli {

// Returns the content. Fails with kInvalidArgument for a file that other users can read or write,
// and as ReadWholeFile does.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace perftape::cli
