// SPDX-License-Identifier: Apache-2.0
// The stacks of one event, or of a pair of events, as a tree; and the frames in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/to_folded.h"
#include "convert/frames/frame_table.h"
#include "convert/frames/stack_trie.h"
#include "convert/model/profile.h"
#include "formats/base/unknown_name.h"

namespace perftape::flame_graph {

using convert::Frame;
using convert::FrameId;
using convert::FrameType;

// The frames of a flame graph: those of a profile, and the root frames, which name threads.
class RootedFrameTable : public convert::FrameTable {
 public:
  // `profile` must outlive this object. Of `options`, only mark_kernel is ignored.
  RootedFrameTable(const convert::Profile& profile, const convert::FoldedOptions& options);

  // Returns the root frame of this text.
  FrameId OfRoot(convert::TextId text) { return Add(texts_[text], FrameType::kThread); }
  // Returns the frame of a call in a file without symbols: "[cc1plus+0x1f2a0]", with the offset of
  // the call in the file. Without the offset, recursion would look like one function. Returns the
  // frame of the location if it has a name or no file, or if two builds are compared.
  FrameId OfCaller(convert::LocationId location, FrameId frame);
  // Whether the calls of a location have such frames.
  bool HasOffsets(convert::LocationId location) const;
  // Returns the frame of a stack without frames.
  FrameId OfNoFrames() { return Add(kUnknownName, FrameType::kUser); }

  // The texts of root frames.
  convert::FrameTexts& texts() { return texts_; }
  const convert::FoldedOptions& options() const { return options_; }

 private:
  const convert::Profile& profile_;
  const convert::FoldedOptions options_;
  convert::FrameTexts texts_;
  std::vector<FrameId> callers_;  // by LocationId; kUnset if not looked up yet
};

struct StackNode {
  FrameId frame = 0;
  std::uint32_t depth = 0;   // 0 for a root
  std::uint32_t folded = 0;  // number of calls that FoldSmallCalls removed below this node
  std::uint32_t first_ms = convert::Sample::kNoTime;  // of the samples that end here
  std::int64_t self = 0;                              // number of the samples that end here
  std::int64_t before = 0;                            // the same, of the event "before" of a pair
  // The same two in the other number of sampled events: periods if `self` is a number of samples.
  std::int64_t other = 0, other_before = 0;
};

// A sample of the profile, and the node in which it ends.
struct SampleNode {
  std::uint32_t sample = 0;  // index in Profile::samples()
  std::uint32_t node = 0;    // index in StackTree::nodes
};

// In preorder. Children of a node are sorted by name, and no two of them have the same frame. The
// tree of a differential profile has the stacks of a pair of events, and two numbers for each node.
struct StackTree {
  std::vector<StackNode> nodes;
  // What the tree does not show: samples with a negative number, as in the difference of profiles.
  std::uint64_t negative_samples = 0;
  convert::FoldedValue value = {};       // what `self` and `before` are, for sampled events
  std::vector<SampleNode> samples = {};  // with KeepSamples::kYes: all that are in the tree

  // Return the sums of `self` and `before`.
  std::int64_t total() const;
  std::int64_t total_before() const;
};

// The events that a tree has. With `before`, `event` is the event "after" of a pair
// (export/differential.h).
struct TreeEvents {
  TreeEvents(convert::EventId counted = {},  // NOLINT: most trees are of one event
             std::optional<convert::EventId> counted_before = {})
      : event(counted), before(counted_before) {}

  convert::EventId event;
  std::optional<convert::EventId> before;
};

// Whether a tree stores in which node each sample ends.
enum class KeepSamples : std::uint8_t { kNo, kYes };

// The nodes of a tree before equal frames are joined, which needs the ranks of all frames.
class StackForest {
 public:
  // Adds the stacks of the samples of `events`, and their frames to `frames`. The numbers are those
  // of the table's options, or ChooseValue of all events. Samples without any number are left out.
  static StackForest Of(const convert::Profile& profile, const TreeEvents& events,
                        RootedFrameTable& frames, KeepSamples keep = KeepSamples::kNo);

  // Returns the tree. `ranks` are RootedFrameTable::Ranks after all forests were made.
  StackTree Join(std::span<const std::uint32_t> ranks) const;

 private:
  struct Content {
    FrameId frame = 0;
    std::uint32_t first_ms = convert::Sample::kNoTime;
    std::int64_t self = 0, before = 0, other = 0, other_before = 0;
  };
  using Trie = convert::StackTrie<Content>;
  struct Item {
    std::uint32_t rank, node;
    auto operator<=>(const Item&) const = default;
  };
  class Builder;

  void AppendChildren(std::span<const Item> parents, std::span<const std::uint32_t> ranks,
                      std::vector<Item>& items) const;

  std::vector<Trie::Node> nodes_;
  std::vector<SampleNode> samples_;  // their nodes are indexes in nodes_
  std::uint64_t negative_samples_ = 0;
  convert::FoldedValue value_ = {};
};

// Returns for each node the sum of its own `number` and those of all calls below it.
std::vector<std::int64_t> TotalsOf(const StackTree& tree,
                                   std::int64_t StackNode::*number = &StackNode::self);

// Returns for each node the earliest `first_ms` of it and all calls below it.
std::vector<std::uint32_t> FirstTimesOf(const StackTree& tree);

// Removes nodes whose total, an element of `totals`, is below `smallest`. Their callers get their
// numbers and count them. A caller's total is never below that of what it calls.
void FoldSmallCalls(StackTree& tree, std::span<const std::int64_t> totals, std::int64_t smallest);

// Returns the smallest total with which at most `most` nodes are left.
std::int64_t SmallestForAtMost(std::vector<std::int64_t> totals, std::size_t most);

// How calls changed between the two sides of a differential tree.

// Shares are in percent of all samples of a side, so sides with different numbers of samples can be
// compared. If both sides did the same amount of work, their numbers say more.
enum class Compared : std::uint8_t { kShares, kNumbers };

class SideChanges {
 public:
  // `gone` is GoneSamples of the tree before FoldSmallCalls.
  SideChanges(const StackTree& tree, std::int64_t gone, Compared compared = Compared::kShares);

  Compared compared() const { return compared_; }
  // Return the share of a node, with what it calls.
  double Before(std::size_t node) const { return Percent(before_[node], total_before_); }
  double After(std::size_t node) const { return Percent(after_[node], total_after_); }
  // Returns its number before, with what it calls.
  std::int64_t NumberBefore(std::size_t node) const { return before_[node]; }
  // Returns its change: in percentage points, or as a number.
  double Of(std::size_t node) const {
    if (compared_ == Compared::kShares) return After(node) - Before(node);
    return static_cast<double>(after_[node]) - static_cast<double>(before_[node]);
  }
  // The same of all.
  double OfAll() const {
    if (compared_ == Compared::kShares) return 0;
    return static_cast<double>(total_after_) - static_cast<double>(total_before_);
  }
  // Returns the largest change of a node, without its sign.
  double largest() const { return largest_; }
  std::int64_t total_before() const { return total_before_; }
  std::int64_t gone() const { return gone_; }

 private:
  static double Percent(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  }

  Compared compared_;
  std::vector<std::int64_t> before_, after_;  // totals, by node
  std::int64_t total_before_ = 0, total_after_ = 0;
  std::int64_t gone_ = 0;
  double largest_ = 0;
};

// Returns how many samples of `before` end in calls that `after` does not have.
std::int64_t GoneSamples(const StackTree& tree);

}  // namespace perftape::flame_graph
