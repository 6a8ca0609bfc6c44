// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/libraries.h"

#include "formats/base/library_version.h"
#include "formats/bundle/library_versions.h"
#include "formats/elf/library_versions.h"
#include "formats/pprof/library_versions.h"

namespace perftape::cli {

std::vector<LibraryVersion> LibrariesOfProfiles() {
  return {ZstdVersion(),        bundle::LibarchiveVersion(),
          elf::LzmaVersion(),   elf::LibdeflateVersion(),
          pprof::ZlibVersion(), bundle::SodiumVersion()};
}

}  // namespace perftape::cli
