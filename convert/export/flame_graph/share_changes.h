// SPDX-License-Identifier: Apache-2.0
// How the shares of calls changed between the two sides of a differential tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/export/flame_graph/stack_tree.h"

namespace perftape::flame_graph {

// Shares are in percent of all samples of a side, so sides with different numbers of samples can be
// compared.
class ShareChanges {
 public:
  // `gone` is GoneSamples of the tree before FoldSmallCalls.
  ShareChanges(const StackTree& tree, std::int64_t gone);

  // Return the share of a node, with what it calls.
  double Before(std::size_t node) const { return Percent(before_[node], total_before_); }
  double After(std::size_t node) const { return Percent(after_[node], total_after_); }
  double Of(std::size_t node) const { return After(node) - Before(node); }
  // Returns the largest change of a node, without its sign.
  double largest() const { return largest_; }
  std::int64_t total_before() const { return total_before_; }
  std::int64_t gone() const { return gone_; }

 private:
  static double Percent(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  }

  std::vector<std::int64_t> before_, after_;  // totals, by node
  std::int64_t total_before_ = 0, total_after_ = 0;
  std::int64_t gone_ = 0;
  double largest_ = 0;
};

// Returns how many samples of `before` end in calls that `after` does not have.
std::int64_t GoneSamples(const StackTree& tree);

}  // namespace perftape::flame_graph
