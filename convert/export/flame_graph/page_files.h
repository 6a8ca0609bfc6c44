// SPDX-License-Identifier: Apache-2.0
// The files of page/ as they are in an output. embed_page.cmake makes them at build time, and
// computes the hashes in the page's Content-Security-Policy.
#pragma once

#include "formats/base/packed_data.h"

namespace perftape::flame_graph {

// page.html with its style and scripts, up to the data of the flame graph and after it. The data is
// gzip in base64.
extern const PackedData kPageBeforeData, kPageAfterData;

// The script of an SVG, without "]]>".
extern const PackedData kSvgScript;

}  // namespace perftape::flame_graph
