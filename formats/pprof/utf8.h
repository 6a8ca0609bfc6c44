// SPDX-License-Identifier: Apache-2.0
// Makes UTF-8 of names. protobuf strings are UTF-8, but file names, comms and symbols are any
// bytes.
#pragma once

#include <string>
#include <string_view>

namespace perftape::pprof {

// The same text where it is UTF-8 as RFC 3629 has it; else with U+FFFD for each byte that belongs
// to no character.
std::string ToValidUtf8(std::string_view text);

}  // namespace perftape::pprof
