// SPDX-License-Identifier: Apache-2.0
// Base64 as in RFC 4648, section 4, with padding.
#pragma once

#include <string>

#include "formats/base/bytes.h"

namespace perftape::flame_graph {

std::string Base64(Bytes bytes);

}  // namespace perftape::flame_graph
