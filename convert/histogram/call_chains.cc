// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/call_chains.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace perftape::histogram {
namespace {

ChainNode::Key KeyOf(const Frame& frame, ChainKey key, const NameTable& names) {
  if (key == ChainKey::kSourceLine && frame.srcline != 0) return {0, frame.srcline, 0};
  if (frame.symbol == 0 || key == ChainKey::kAddress) return {frame.dso, frame.address, 0};
  const Symbol& symbol = names.symbols[frame.symbol];
  if (symbol.is_inlined) return {frame.dso, 0, symbol.name};
  return {frame.dso, symbol.start, symbol.name};
}

// Splits a node, so that it ends before its frame `at`.
void Split(ChainNode& node, std::size_t at, ChainKey key, const NameTable& names) {
  auto rest = std::make_unique<ChainNode>();
  rest->frames.assign(node.frames.begin() + static_cast<std::ptrdiff_t>(at), node.frames.end());
  rest->parent = &node;
  rest->hits = node.hits;
  rest->children_hits = node.children_hits;
  rest->count = node.count;
  rest->children_count = node.children_count;
  rest->children = std::exchange(node.children, {});
  for (auto& [unused, child] : rest->children) child->parent = rest.get();
  node.frames.resize(at);
  node.children_hits = node.total_hits();
  node.children_count = node.total_count();
  node.hits = node.count = 0;
  const ChainNode::Key first = KeyOf(rest->frames.front(), key, names);
  node.children.emplace(first, std::move(rest));
}

struct Weight {
  std::uint64_t period = 0, count = 0;
};

// Adds a chain below `root`.
void Append(ChainNode& root, std::span<const Frame> chain, const Weight& weight, ChainKey key,
            const NameTable& names) {
  ChainNode* node = &root;
  while (!chain.empty()) {
    node->children_hits += weight.period;
    node->children_count += weight.count;
    auto& child = node->children[KeyOf(chain.front(), key, names)];
    if (child == nullptr) {
      child = std::make_unique<ChainNode>();
      child->parent = node;
      child->frames.assign(chain.begin(), chain.end());
      node = child.get();
      break;
    }
    node = child.get();
    std::size_t same = 1;
    while (same < node->frames.size() && same < chain.size() &&
           KeyOf(node->frames[same], key, names) == KeyOf(chain[same], key, names)) {
      ++same;
    }
    if (same < node->frames.size()) Split(*node, same, key, names);
    chain = chain.subspan(same);
  }
  node->hits += weight.period;
  node->count += weight.count;
}

void AddBelow(const ChainNode& from, std::vector<Frame>& path, ChainNode& root, ChainKey key,
              const NameTable& names) {
  path.insert(path.end(), from.frames.begin(), from.frames.end());
  if (from.count != 0) Append(root, path, {from.hits, from.count}, key, names);
  for (const auto& [unused, child] : from.children) AddBelow(*child, path, root, key, names);
  path.resize(path.size() - from.frames.size());
}

void SortByTotal(std::vector<const ChainNode*>& nodes) {
  std::ranges::stable_sort(nodes, std::ranges::greater(), &ChainNode::total_hits);
}

void SortGraph(ChainNode& node, std::uint64_t fewest_hits) {
  node.sorted.clear();
  for (const auto& [unused, child] : node.children) {
    SortGraph(*child, fewest_hits);
    if (child->total_hits() >= fewest_hits) node.sorted.push_back(child.get());
  }
  SortByTotal(node.sorted);
}

void SortFractal(ChainNode& node, double least_share) {
  node.sorted.clear();
  const auto fewest =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(node.children_hits) * least_share));
  for (const auto& [unused, child] : node.children) {
    SortFractal(*child, least_share);
    if (child->total_hits() >= fewest) node.sorted.push_back(child.get());
  }
  SortByTotal(node.sorted);
}

void CollectFlat(const ChainNode& node, std::uint64_t fewest_hits,
                 std::vector<const ChainNode*>& nodes) {
  for (const auto& [unused, child] : node.children) CollectFlat(*child, fewest_hits, nodes);
  if (node.hits != 0 && node.hits >= fewest_hits) nodes.push_back(&node);
}

}  // namespace

void CallChains::Add(std::span<const Frame> chain, std::uint64_t period, ChainKey key,
                     const NameTable& names) {
  if (chain.empty()) return;
  longest_ = std::max(longest_, chain.size());
  Append(root_, chain, {period, 1}, key, names);
}

void CallChains::AddAll(const CallChains& other, ChainKey key, const NameTable& names) {
  std::vector<Frame> path;
  longest_ = std::max(longest_, other.longest_);
  AddBelow(other.root_, path, root_, key, names);
}

std::vector<const ChainNode*> CallChains::Sort(ChainMode mode, std::uint64_t fewest_hits,
                                               double least_share) {
  switch (mode) {
    case ChainMode::kNone:
      return {};
    case ChainMode::kGraph:
      SortGraph(root_, fewest_hits);
      return root_.sorted;
    case ChainMode::kFractal:
      SortFractal(root_, least_share);
      return root_.sorted;
    case ChainMode::kFlat:
    case ChainMode::kFolded:
      break;
  }
  std::vector<const ChainNode*> nodes;
  CollectFlat(root_, fewest_hits, nodes);
  std::ranges::stable_sort(nodes, std::ranges::greater(), &ChainNode::hits);
  return nodes;
}

}  // namespace perftape::histogram
