// SPDX-License-Identifier: Apache-2.0
// Checks whether a bundle covers every binary that a recording sampled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/bundle/bundle.h"

namespace perftape::bundle_check {

struct Uncovered {
  std::string path;
  std::string build_id;         // in hexadecimal digits; empty if not recorded
  std::uint64_t addresses = 0;  // number of distinct addresses sampled in it
  std::string reason;           // "is not in the bundle"
};

struct Coverage {
  std::uint64_t files = 0;  // number of files with samples
  std::vector<Uncovered> missing;
};

// Checks the files that contain locations of `profile`. Memory without a file (//anon, [heap]) is
// not counted. The kernel and its modules are covered if the bundle has their symbols.
Coverage CoverageOf(const bundle::Bundle& bundle, const convert::Profile& profile);

}  // namespace perftape::bundle_check
