// SPDX-License-Identifier: Apache-2.0
// The versions of the outside libraries that this folder uses, for --version.
#pragma once

#include "formats/base/library_version.h"

namespace perftape::bundle {

LibraryVersion LibarchiveVersion();
LibraryVersion SodiumVersion();

}  // namespace perftape::bundle
