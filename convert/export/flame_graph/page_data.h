// SPDX-License-Identifier: Apache-2.0
// The data inside a flame graph page, before compression. All numbers are LEB128 without sign.
//
//   version           kPageVersion
//   size, bytes       all texts as UTF-8, each ended by '\n'; the first one is empty
//   facts             their number, and for each its text
//   frames            their number n, then six columns of n numbers: name, type (FrameType), dso,
//                     source file (texts), first line, last line - first line
//   tabs              their number, and for each, an event:
//     name, unit      texts
//     decimals        a number v means v / 10^decimals
//     scale           all numbers of the column `self` were divided by it
//     nodes           their number n, then four columns of n numbers, in preorder: how many levels
//                     the node is above a child of the node before it; frame; self; folded
//
// Columns of small numbers that repeat compress well: 1.6 million nodes of 139,000 stacks become
// 1.8 MB, a quarter of other encodings. page/tree.js reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convert/export/flame_graph/call_tree.h"
#include "convert/export/flame_graph/frame_table.h"
#include "convert/model/profile.h"

namespace perftape::flame_graph {

inline constexpr std::uint64_t kPageVersion = 1;

// One event of a page.
struct PageTab {
  convert::EventId event = {};
  CallTree tree;
};

std::vector<std::byte> EncodePage(const convert::Profile& profile, const FrameTable& frames,
                                  const std::vector<PageTab>& tabs);

}  // namespace perftape::flame_graph
