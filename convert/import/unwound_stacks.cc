// SPDX-License-Identifier: Apache-2.0
#include "convert/import/unwound_stacks.h"

#include <bit>
#include <cassert>

namespace perftape::convert {

UnwoundStacks::Id UnwoundStacks::Add(std::span<const std::uint64_t> locations, Id root) {
  assert(root == kWhole || root == kCut);
  const auto outer = [&](std::size_t depth) { return locations[locations.size() - depth]; };
  std::size_t depth = 0;
  if (path_.empty() || path_.front().id != root) {
    path_.assign(1, {.location = 0, .hash = root, .id = root});
  } else {
    while (depth + 1 < path_.size() && depth < locations.size() &&
           path_[depth + 1].location == outer(depth + 1)) {
      ++depth;
    }
    path_.resize(depth + 1);
  }
  // The index is not in the CPU's caches. Reading all its slots at once takes as long as reading
  // one.
  for (std::size_t next = depth + 1; next <= locations.size(); ++next) {
    const std::uint64_t hash = HashOf(path_.back().hash, outer(next));
    path_.push_back({.location = outer(next), .hash = hash, .id = kNone});
    index_.Prefetch(hash);
  }
  for (std::size_t next = depth + 1; next < path_.size(); ++next) {
    if (!PrefetchNode(path_[next].hash)) break;
  }
  while (++depth < path_.size()) path_[depth].id = Push(path_[depth - 1].id, path_[depth]);
  return path_.back().id;
}

std::vector<UnwoundStacks::Id> UnwoundStacks::AddAll(const UnwoundStacks& other) {
  constexpr std::size_t kIndexAhead = 32, kNodeAhead = 16;
  const std::size_t size = other.nodes_.size();
  std::vector<std::uint64_t> hashes(size);
  for (std::size_t id = 0; id < size; ++id) {
    const Node& node = other.nodes_[id];
    hashes[id] = id < kFirstFrame ? id : HashOf(hashes[node.caller], node.location);
  }
  std::vector<Id> ids = {kNone, kWhole, kCut};
  ids.reserve(size);
  for (std::size_t id = kFirstFrame; id < size; ++id) {
    if (id + kIndexAhead < size) index_.Prefetch(hashes[id + kIndexAhead]);
    if (id + kNodeAhead < size) PrefetchNode(hashes[id + kNodeAhead]);
    const Node& node = other.nodes_[id];
    ids.push_back(
        Push(ids[node.caller], {.location = node.location, .hash = hashes[id], .id = kNone}));
  }
  return ids;
}

bool UnwoundStacks::PrefetchNode(std::uint64_t hash) const {
  const Id guess = index_.Guess(hash);
  if (guess == IdTable::kNone) return false;
  __builtin_prefetch(&nodes_[guess]);
  return true;
}

std::uint64_t UnwoundStacks::HashOf(std::uint64_t caller, std::uint64_t location) {
  const std::uint64_t mixed = (std::rotl(caller, 23) + location) * 0x9e3779b97f4a7c15;
  return mixed ^ mixed >> 32;
}

UnwoundStacks::Id UnwoundStacks::Push(Id caller, const Frame& frame) {
  const std::uint32_t known = index_.Find(frame.hash, [&](std::uint32_t id) {
    return nodes_[id].location == frame.location && nodes_[id].caller == caller;
  });
  if (known != IdTable::kNone) return known;
  const auto added = static_cast<Id>(nodes_.size());
  nodes_.push_back(
      {.location = frame.location, .caller = caller, .frames = nodes_[caller].frames + 1});
  index_.Add(frame.hash, added);
  return added;
}

}  // namespace perftape::convert
