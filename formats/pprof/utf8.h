// SPDX-License-Identifier: Apache-2.0
// Converts names to UTF-8. protobuf strings are UTF-8, but file names, comms and symbols may be any
// bytes.
#pragma once

#include <string>
#include <string_view>

namespace perftape::pprof {

// Returns valid UTF-8 (RFC 3629) unchanged. Otherwise replaces each byte that belongs to no
// character by U+FFFD.
std::string ToValidUtf8(std::string_view text);

}  // namespace perftape::pprof
