// SPDX-License-Identifier: Apache-2.0
// How the binaries that samples hit are handed over while the recording runs.
#pragma once

#include <functional>
#include <string_view>

#include "formats/base/build_id.h"

namespace perftape::record {

// Receives the path, the build id and the descriptor of an open binary, which is valid during the
// call.
using BinarySink = std::function<void(std::string_view path, const BuildId& build_id, int file)>;

}  // namespace perftape::record
