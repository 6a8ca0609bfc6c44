// SPDX-License-Identifier: Apache-2.0
// The namespaces of the recorder itself (namespaces(7)), and what it cannot see from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/scope/scope.h"

namespace perftape::record {

enum class NamespaceType : std::uint8_t { kPid, kCgroup };

// Returns the inode of this process's namespace; 0 if it is the initial one, or the kernel has
// none.
std::uint32_t ChildNamespace(NamespaceType type);

// Returns a sentence for each kind of names that a recording of the whole system lacks.
std::vector<std::string> UnseenFromNamespaces(const Scope& scope);

}  // namespace perftape::record
