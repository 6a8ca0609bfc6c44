// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_folded.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/folded_lines.h"
#include "convert/export/frame_texts.h"
#include "convert/export/line_tree.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/folded/count.h"

namespace perftape::convert {
namespace {

using Columns = FoldedColumns;

std::optional<EventId> FindEvent(const Profile& profile, std::string_view name) {
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (profile.text(profile.events()[i].name) == name) return EventId{i};
  }
  return {};
}

Result<Columns> ChooseColumns(const Profile& profile, const FoldedOptions& options) {
  if (!options.differential) {
    const auto event = options.event ? options.event : DefaultEvent(profile);
    return Columns{{event.value_or(EventId{})}, event ? 1U : 0U};
  }
  const auto before = FindEvent(profile, "before");
  const auto after = FindEvent(profile, "after");
  if (!before || !after) {
    return Fail(ErrorCode::kNotFound, "a differential file needs the events 'before' and 'after'");
  }
  return Columns{{*before, *after}, 2};
}

// The text of the root frame of each sample. kNoText if its thread is unknown, or if no root was
// requested.
class RootTexts {
 public:
  RootTexts(const Profile& profile, folded::Root root, FrameTexts& texts)
      : profile_(profile), root_(root), texts_(texts), of_threads_(profile.threads().size()) {}

  TextId Of(const Sample& sample) {
    if (root_ == folded::Root::kNone) return kNoText;
    if (sample.thread == ThreadId{}) return Render(sample);
    std::optional<TextId>& known = of_threads_[sample.thread.index];
    if (!known) known = Render(sample);
    return *known;
  }

 private:
  TextId Render(const Sample& sample) {
    const SampleThread thread = ThreadOf(profile_, sample);
    const bool is_known = sample.thread != ThreadId{} || !thread.comm.empty() ||
                          (thread.pid && root_ != folded::Root::kComm);
    if (!is_known) return kNoText;
    return texts_.Intern(folded::RootName(
        root_, {.comm = std::string(thread.comm), .pid = thread.pid, .tid = thread.tid}));
  }

  const Profile& profile_;
  const folded::Root root_;
  FrameTexts& texts_;
  std::vector<std::optional<TextId>> of_threads_;
};

// Returns the samples of the columns' events, grouped by root frame; within a group in their old
// order. Fills `root_of`, by sample.
std::vector<std::uint32_t> SamplesByRoot(const Profile& profile, const Columns& columns,
                                         RootTexts& roots, std::vector<TextId>& root_of) {
  const std::span events(columns.events.data(), columns.count);
  const std::span<const Sample> samples = profile.samples();
  root_of.assign(samples.size(), kNoText);
  std::vector<std::uint32_t> first;  // of each root; samples without a root come first
  const auto number_of = [&](std::uint32_t i) {
    return root_of[i] == kNoText ? 0 : std::size_t{root_of[i]} + 1;
  };
  std::vector<std::uint32_t> selected;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (std::ranges::count(events, samples[i].event) == 0) continue;
    selected.push_back(i);
    root_of[i] = roots.Of(samples[i]);
    if (first.size() < number_of(i) + 2) first.resize(number_of(i) + 2);
    ++first[number_of(i) + 1];
  }
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> sorted(selected.size());
  for (const std::uint32_t i : selected) sorted[first[number_of(i)]++] = i;
  return sorted;
}

void AddSamples(const Profile& profile, const FoldedOptions& options, const Columns& columns,
                FrameTexts& texts, LineTree& tree) {
  RootTexts roots(profile, options.root, texts);
  std::vector<TextId> root_of;
  TextId root = kNoText;
  for (const std::uint32_t i : SamplesByRoot(profile, columns, roots, root_of)) {
    if (root_of[i] != root) tree.StartRoot(root = root_of[i]);
    const Sample& sample = profile.samples()[i];
    const bool is_count = options.value == FoldedValue::kSamples &&
                          profile[sample.event].values == EventValues::kSampled;
    tree.Add(sample.stack, sample.event == columns.events.front() ? 0 : 1,
             is_count ? sample.count : sample.period);
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

std::optional<EventId> DefaultEvent(const Profile& profile) {
  const auto events = profile.events();
  if (events.empty()) return {};
  std::vector<bool> has_samples(events.size());
  for (const Sample& sample : profile.samples()) has_samples[sample.event.index] = true;

  const std::string_view wanted = profile.metadata().default_value;
  std::optional<EventId> first_sampled;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const std::string_view name = profile.text(events[i].name);
    const bool is_sampled = events[i].values == EventValues::kSampled;
    // A sampled event becomes two sample types of pprof.
    const auto is_called = [&](std::string_view suffix) {
      return wanted.size() == name.size() + suffix.size() && wanted.starts_with(name) &&
             wanted.ends_with(suffix);
    };
    if (!wanted.empty() &&
        (is_called("") || (is_sampled && (is_called("_sample") || is_called("_event"))))) {
      return EventId{i};
    }
    if (is_sampled && has_samples[i] && !first_sampled) first_sampled = EventId{i};
  }
  if (first_sampled) return first_sampled;
  return EventId{static_cast<std::uint32_t>(events.size() - 1)};
}

Status WriteFolded(const Profile& profile, const FoldedOptions& options, OutputFile& out) {
  TRY_ASSIGN(const Columns columns, ChooseColumns(profile, options));
  if (columns.count == 0) return {};
  FrameTexts texts(profile, options);
  LineTree tree(profile, texts);
  AddSamples(profile, options, columns, texts, tree);
  const folded::CountLike count_like =
      options.differential ? folded::CountLike::kKeep : ChooseCountLike(tree, texts);
  const FrameKeys keys(texts, count_like);
  return WriteLines({.profile = profile, .columns = columns, .tree = tree, .keys = keys},
                    options.threads, out);
}

}  // namespace perftape::convert
