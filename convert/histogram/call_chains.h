// SPDX-License-Identifier: Apache-2.0
// The callchains of an entry as a tree whose nodes are runs of frames, as perf builds it
// (tools/perf/util/callchain.c). perf prints a node as one branch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "convert/histogram/hit.h"

namespace perftape::histogram {

// What makes two frames one: their function, or their address.
enum class ChainKey : std::uint8_t { kFunction, kAddress, kSourceLine };

enum class ChainMode : std::uint8_t { kNone, kFlat, kGraph, kFractal, kFolded };

struct ChainNode {
  std::vector<Frame> frames;
  ChainNode* parent = nullptr;
  std::uint64_t hits = 0, children_hits = 0;    // periods of chains that end here, and below
  std::uint64_t count = 0, children_count = 0;  // the same in samples
  std::vector<const ChainNode*> sorted;         // the children to print, after Sort

  std::uint64_t total_hits() const { return hits + children_hits; }
  std::uint64_t total_count() const { return count + children_count; }

  // dso, address or start of the symbol, name of an inlined function
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  // By the first frame. As in perf, of nodes with equal hits that with the highest address is
  // first.
  std::map<Key, std::unique_ptr<ChainNode>, std::greater<>> children;
};

class CallChains {
 public:
  // Adds a chain of `period`. `names` must be the table that the frames are of.
  void Add(std::span<const Frame> chain, std::uint64_t period, ChainKey key,
           const NameTable& names);
  // Adds all chains of another tree.
  void AddAll(const CallChains& other, ChainKey key, const NameTable& names);

  // Sorts the nodes with at least `fewest_hits`, or with kFractal at least `least_share` of their
  // parent. The result is the list of nodes to print at the top. It is valid until the next Add.
  std::vector<const ChainNode*> Sort(ChainMode mode, std::uint64_t fewest_hits, double least_share);

  bool empty() const { return root_.children.empty(); }
  std::size_t longest() const { return longest_; }  // in frames

 private:
  ChainNode root_;
  std::size_t longest_ = 0;
};

}  // namespace perftape::histogram
