// SPDX-License-Identifier: Apache-2.0
// The data inside a flame graph page, before compression. All numbers are LEB128 without sign.
//
//   version           kPageVersion
//   size, bytes       all texts as UTF-8, each ended by '\n'; the first one is empty
//   facts             their number, and for each its text (model/profile_facts.h)
//   frames            their number n, then six columns of n numbers: name, type (FrameType), dso,
//                     source file (texts), first line, last line - first line
//   tabs              their number, and for each, an event or a pair of events:
//     name, unit      texts
//     columns         what else the tab has, as bits of PageColumns
//     decimals        a number v means v / 10^decimals
//     scale           all numbers of the column `self` were divided by it
//     decimals, scale the same for the column `before`, if there is one
//     other unit, m   if the tab has other numbers: the numbers of samples if `self` are periods,
//                     or the other way round. m > 0: they are m times `self` (and `before`).
//                     m = 0: they are columns
//     scale           of each column of other numbers, if there are any
//     nodes           their number n, then columns of n numbers, in preorder: how many levels the
//                     node is above a child of the node before it; frame; self; folded; then, if
//                     there are such columns, before; other; other before; first
//   comparison        a text, which is empty if there is none; else the number of reasons, and
//                     columns: depth, nanoseconds after and before, text
//   times             time_data.h
//
// Columns of small numbers that repeat compress well: 1.6 million nodes of 139,000 stacks become
// 1.8 MB, a quarter of other encodings. page/tree.js reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/flame_graph/stack_tree.h"
#include "convert/export/flame_graph/time_lanes.h"
#include "convert/model/profile.h"

namespace perftape::flame_graph {

inline constexpr std::uint64_t kPageVersion = 6;

// Columns that not every tab has.
enum PageColumns : std::uint8_t {
  kBeforeColumn = 1,  // the numbers of the event "before"
  // When the first sample of a node was taken, in milliseconds after that of its caller. That of an
  // outermost frame is in milliseconds since the recording's first sample.
  kFirstColumn = 2,
  kOtherNumbers = 4,
  kPerWindow = 8,  // no column: both numbers are of a window on average, so they are compared
};

// One event or one pair of events of a page.
struct PageTab {
  TreeEvents events = {};
  std::string_view name;
  StackTree tree = {};
};

// Returns the unit of the numbers StackNode::self of a tab.
std::string_view ShownUnit(const convert::Profile& profile, const PageTab& tab);

// `lanes` is null for a page without times.
std::vector<std::byte> EncodePage(const convert::Profile& profile, const RootedFrameTable& frames,
                                  const std::vector<PageTab>& tabs,
                                  const TimeLanes* lanes = nullptr,
                                  const ComparedWindows& compared = {});

}  // namespace perftape::flame_graph
