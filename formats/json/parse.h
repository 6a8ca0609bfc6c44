// SPDX-License-Identifier: Apache-2.0
// Reads a small JSON text into a document.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/base/result.h"
#include "formats/json/value.h"

namespace perftape::json {

// Values that are more than `max_depth` deep in lists and objects are left out, so that brackets
// cost no memory; the text itself is 0 deep. Callers limit the size of the text: a document takes
// several times as much. Fails with kCorrupt and the offset if it is not JSON.
Result<Value> Parse(std::string_view text, std::size_t max_depth);

}  // namespace perftape::json
