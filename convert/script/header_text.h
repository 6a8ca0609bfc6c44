// SPDX-License-Identifier: Apache-2.0
// The comments before the samples: who recorded what, where (perf script --header;
// tools/perf/util/header.c, perf_header__fprintf_info).
#pragma once

#include <string>
#include <string_view>

#include "formats/perfdata/reader.h"

namespace perftape::listing {

// Returns "# ========\n# hostname : ...\n# ========\n#\n". `captured` is the time of the file, as
// ctime(3) writes it; empty if unknown. Topologies, caches and memories are left out, as perf does
// without -I: perftape-inspect --header has them.
std::string HeaderText(const perfdata::Reader& reader, std::string_view captured);

}  // namespace perftape::listing
