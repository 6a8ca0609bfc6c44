// SPDX-License-Identifier: Apache-2.0
// Base64 as in RFC 4648, section 4, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"

namespace perftape {
inline namespace base {

std::string Base64(Bytes bytes);

// Returns the bytes of a base64 text. Also accepts "-" and "_" for "+" and "/" (section 5), and no
// padding, as readers of protobuf's JSON must. Returns nothing for any other text.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace base
}  // namespace perftape
