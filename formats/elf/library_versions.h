// SPDX-License-Identifier: Apache-2.0
// The outside libraries that this folder uses. A header of its own, so that readers need not know.
#pragma once

#include "formats/base/library_version.h"

namespace perftape::elf {

LibraryVersion LibelfVersion();
LibraryVersion LzmaVersion();
LibraryVersion LibdeflateVersion();

}  // namespace perftape::elf
