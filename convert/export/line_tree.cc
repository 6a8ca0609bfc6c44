// SPDX-License-Identifier: Apache-2.0
#include "convert/export/line_tree.h"

#include "convert/model/saturating.h"
#include "formats/base/unknown_name.h"

namespace perftape::convert {

void LineTree::StartRoot(TextId text) {
  trie_.StartBelow(text == kNoText ? 0 : trie_.AddChild(0, {.text = text}));
}

void LineTree::Add(StackId stack, std::size_t column, std::int64_t value) {
  std::uint32_t node = trie_.NodeOf(stack, [this](std::uint32_t at, LocationId location) {
    for (const TextId text : texts_.Of(location)) at = trie_.AddChild(at, {.text = text});
    return at;
  });
  if (node == 0) node = trie_.AddChild(0, {.text = texts_.Intern(kUnknownName)});
  std::uint32_t& line = trie_[node].line;
  if (line == 0) {
    line = static_cast<std::uint32_t>(sums_.size());
    sums_.push_back({});
  }
  sums_[line][column] = AddUpToLimit(sums_[line][column], value);
}

}  // namespace perftape::convert
