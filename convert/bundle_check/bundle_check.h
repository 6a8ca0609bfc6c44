// SPDX-License-Identifier: Apache-2.0
// What a bundle contains, compared with its manifest, with a recording, and with this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/bytes.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/manifest.h"

namespace perftape::bundle_check {

// Returns "2 members with a path outside of the directory, 1 member with a repeated name"; empty if
// there are none.
std::string TextOf(const bundle::PassedOver& passed_over);

// Checks a bundle: each file must be at the path in the manifest, have its build id, and be found
// by perf's link. Returns a line for each error; empty for a valid bundle.
std::vector<std::string> FindContradictions(const bundle::Bundle& bundle);

// A binary that a recording sampled and that the bundle does not cover.
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

// Returns whether this machine already has a binary or debug file of a bundle. It must have the
// same build id, and be at the recorded path, or for a debug file below /usr/lib/debug. Returns
// false if `content` has a symbol table or DWARF that the file on this machine lacks, and for other
// kinds of files.
bool IsOnMachine(const bundle::BundledFile& file, Bytes content);

}  // namespace perftape::bundle_check
