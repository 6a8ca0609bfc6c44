// SPDX-License-Identifier: Apache-2.0
// ProfilesData in JSON (OTLP/JSON), as protobuf.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::otlp {

// Whether the first bytes are those of such a text.
bool LooksLikeProfilesJson(std::string_view beginning);

// Returns the same messages as protobuf, without a document in memory. Numbers may be strings, and
// strings numbers; ids may be hexadecimal or base64. Unknown fields are skipped, as OTLP requires.
// Fails with kCorrupt and the offset if the text is not JSON, or a value has another type than its
// field; with kUnsupported if it is too deep.
Result<std::string> EncodedOfJson(std::string_view text);

}  // namespace perftape::otlp
