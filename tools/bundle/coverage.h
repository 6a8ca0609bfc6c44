// SPDX-License-Identifier: Apache-2.0
// Whether a bundle has all that a recording hit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/bundle/bundle.h"

namespace perftape::bundle_tool {

struct Uncovered {
  std::string path;
  std::string build_id;      // in hexadecimal digits; empty where the recording has none
  std::uint64_t places = 0;  // distinct addresses that were hit in it
  std::string reason;        // "is not in the bundle"
};

struct Coverage {
  std::uint64_t files = 0;  // that were hit
  std::vector<Uncovered> missing;
};

// Of the files that `profile` has a place in. Memory without a file (//anon, [heap]) is none; of
// the kernel and its modules the symbols are meant.
Coverage CoverageOf(const bundle::Bundle& bundle, const convert::Profile& profile);

}  // namespace perftape::bundle_tool
