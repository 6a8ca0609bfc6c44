// SPDX-License-Identifier: Apache-2.0
// Small files that a program reads again while it runs: tokens, headers, certificates. And the rule
// for files with secrets, also keys.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "formats/base/result.h"

namespace perftape::cli {

// Returns what is wrong with the permissions of a secret, as a message; nothing if only its owner
// and its group can read and write it. A group may share secrets: those of Kubernetes belong to
// root and a group of the pod (fsGroup).
std::optional<std::string> WrongPermissions(const std::string& path, mode_t mode);

// Returns the content of a regular file. Others, which may let the reader wait, are
// kInvalidArgument; kCorrupt is a file of more than 4 MiB.
Result<std::string> ReadSmallFile(const std::string& path);
// The same. Fails with kInvalidArgument for a file with WrongPermissions.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace perftape::cli
