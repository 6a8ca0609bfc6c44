// SPDX-License-Identifier: Apache-2.0
// The distinct user stacks that were unwound, as a tree: a stack is the node of its innermost
// frame, and the parent of a node is its caller. Samples of one thread that follow each other share
// most callers, so adding a stack looks up only a few frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convert/model/id_table.h"
#include "convert/model/large_pages.h"

namespace perftape::convert {

class UnwoundStacks {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0;  // not unwound
  // Stacks without frames: the roots of stacks that end at the outermost function, and of those
  // whose outer frames are missing.
  static constexpr Id kWhole = 1, kCut = 2;

  struct Node {
    std::uint64_t location = 0;  // packed (offline_unwind::PackedLocations)
    Id caller = kNone;
    std::uint32_t frames = 0;  // of the stack
    bool operator==(const Node&) const = default;
  };

  UnwoundStacks() : nodes_(kCut + 1) {}

  // Returns the id of a stack, and adds it if it is new. `locations` are leaf first. `root` is
  // kWhole or kCut.
  Id Add(std::span<const std::uint64_t> locations, Id root);
  // Adds the stacks of another tree. Returns, by id in the other tree, the ids in this one.
  std::vector<Id> AddAll(const UnwoundStacks& other);

  // By id. Callers come before their callees. The first three are not frames.
  std::span<const Node> nodes() const { return nodes_; }
  static constexpr Id kFirstFrame = kCut + 1;

 private:
  struct Frame {
    std::uint64_t location = 0;
    std::uint64_t hash = 0;  // of this and all outer frames
    Id id = kNone;
  };

  static std::uint64_t HashOf(std::uint64_t caller, std::uint64_t location);
  // Prefetches the node that probably has this hash. Returns false if none has it.
  bool PrefetchNode(std::uint64_t hash) const;
  // Returns the node of a frame with this location and hash.
  Id Push(Id caller, const Frame& frame);

  IdTable index_;
  std::vector<Node, LargePages<Node>> nodes_;
  std::vector<Frame> path_;  // of the last added stack, its root first
};

}  // namespace perftape::convert
