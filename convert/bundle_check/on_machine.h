// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "formats/base/bytes.h"
#include "formats/bundle/manifest.h"

namespace perftape::bundle_check {

// Returns whether this machine has a binary or debug file of a bundle itself. It must have the same
// build id, and be at the recorded path, or for a debug file below /usr/lib/debug. Returns false if
// `content` has a symbol table or DWARF that the file on this machine lacks, and for other kinds of
// files.
bool IsOnMachine(const bundle::BundledFile& file, Bytes content);

}  // namespace perftape::bundle_check
