// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/share_changes.h"

#include <algorithm>
#include <cmath>

#include "convert/model/saturating.h"

namespace perftape::flame_graph {

ShareChanges::ShareChanges(const StackTree& tree, std::int64_t gone)
    : before_(TotalsOf(tree, &StackNode::before)),
      after_(TotalsOf(tree)),
      total_before_(tree.total_before()),
      total_after_(tree.total()),
      gone_(gone) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    largest_ = std::max(largest_, std::abs(Of(i)));
  }
}

std::int64_t GoneSamples(const StackTree& tree) {
  const std::vector<std::int64_t> after = TotalsOf(tree);
  std::int64_t gone = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == 0) gone = convert::AddUpToLimit(gone, tree.nodes[i].before);
  }
  return gone;
}

}  // namespace perftape::flame_graph
