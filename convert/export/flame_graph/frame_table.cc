// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/frame_table.h"

namespace perftape::flame_graph {
namespace {

convert::FoldedOptions WithoutMarks(convert::FoldedOptions options) {
  options.mark_kernel = false;  // the type tells it
  return options;
}

convert::FrameIdentity IdentityFor(const convert::FoldedOptions& options) {
  return options.differential ? convert::FrameIdentity::kName : convert::FrameIdentity::kType;
}

}  // namespace

FrameTable::FrameTable(const convert::Profile& profile, const convert::FoldedOptions& options)
    : convert::FrameTable(profile, IdentityFor(options)),
      options_(WithoutMarks(options)),
      texts_(profile, options_) {}

}  // namespace perftape::flame_graph
