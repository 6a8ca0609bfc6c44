// SPDX-License-Identifier: Apache-2.0
// Whether this machine has a bundle's file itself.
#pragma once

#include "formats/base/bytes.h"
#include "formats/bundle/manifest.h"

namespace perftape::bundle_tool {

// A binary or debug file is there with the same build id: at its recorded path, or a debug file
// below /usr/lib/debug. Not so if `content` has a symbol table or DWARF that the file here lacks.
// False for other kinds.
bool IsOnMachine(const bundle::BundledFile& file, Bytes content);

}  // namespace perftape::bundle_tool
