// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_folded.h"

#include <algorithm>
#include <span>
#include <vector>

#include "convert/export/differential.h"
#include "convert/export/folded_lines.h"
#include "convert/export/frame_texts.h"
#include "formats/folded/count.h"

namespace perftape::convert {
namespace {

using Columns = FoldedColumns;

Result<Columns> ChooseColumns(const Profile& profile, const FoldedOptions& options) {
  if (!options.differential) {
    const auto event = options.event ? options.event : DefaultEvent(profile);
    return Columns{{event.value_or(EventId{})}, event ? 1U : 0U};
  }
  TRY(CheckDifferential(profile));
  const std::optional<EventPair> pair = ChooseEventPair(profile, options.event);
  return pair ? Columns{{pair->before, pair->after}, 2} : Columns();
}

void AddSamples(const Profile& profile, const FoldedOptions& options, const Columns& columns,
                FrameTexts& texts, LineTree& tree) {
  const std::span events(columns.events.data(), columns.count);
  const FoldedValue value = ChooseValue(profile, options.value, events);
  TextId root = kNoText;
  for (const RootedSample& rooted : SamplesByRoot(profile, events, options.root, texts)) {
    if (rooted.root != root) tree.StartRoot(root = rooted.root);
    const Sample& sample = profile.samples()[rooted.sample];
    tree.Add(sample.stack, sample.event == columns.events.front() ? 0 : 1,
             FoldedNumber(profile, value, sample));
  }
}

// flamegraph.pl reads a line as one with two counts if its last frame ends in a space and a number.
// If all lines end so, the input had such lines.
folded::CountLike ChooseCountLike(const LineTree& tree, const FrameTexts& texts) {
  const bool all_do = std::ranges::all_of(tree.nodes(), [&](const LineTree::Node& node) {
    return node.line == 0 || folded::EndsLikeACount(texts[node.text]);
  });
  return all_do ? folded::CountLike::kKeep : folded::CountLike::kEscape;
}

}  // namespace

Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out) {
  TRY_ASSIGN(const Columns columns, ChooseColumns(profile, options));
  if (columns.count == 0) return {};
  FrameTexts texts(profile, options);
  LineTree tree(profile, texts, options.offsets ? AddressKinds::kApart : AddressKinds::kShared);
  AddSamples(profile, options, columns, texts, tree);
  const folded::CountLike count_like =
      options.differential ? folded::CountLike::kKeep : ChooseCountLike(tree, texts);
  const FrameKeys keys(texts, count_like);
  return WriteLines({.profile = profile, .columns = columns, .tree = tree, .keys = keys},
                    options.threads, out);
}

}  // namespace perftape::convert
