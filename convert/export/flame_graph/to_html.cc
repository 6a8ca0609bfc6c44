// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/differential.h"
#include "convert/export/flame_graph/flame_graph.h"
#include "convert/export/flame_graph/page_data.h"
#include "convert/export/flame_graph/page_files.h"
#include "convert/export/flame_graph/time_lanes.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "convert/timeline/timeline.h"
#include "formats/base/base64.h"
#include "formats/pprof/gzip.h"

namespace perftape::flame_graph {
namespace {

using convert::EventId;
using convert::Profile;

// The nodes of one event that a page contains. 1.6 million are a page of 1.8 MB, which a browser
// shows in half a second.
constexpr std::size_t kMostNodes = 2'000'000;

// 6: 1.6 million nodes become 1.9 MB in a third of the time of level 9, which saves 4 percent.
constexpr int kGzipLevel = 6;

// Returns the pairs with samples; the one that is shown first is the first.
std::vector<convert::EventPair> PairsOf(const Profile& profile) {
  const std::vector<EventId> events = convert::EventsWithSamples(profile);
  std::vector<convert::EventPair> pairs = convert::EventPairsOf(profile);
  std::erase_if(pairs, [&events](const convert::EventPair& pair) {
    return std::ranges::count(events, pair.before) + std::ranges::count(events, pair.after) == 0;
  });
  if (const auto first = convert::ChooseEventPair(profile)) {
    std::ranges::stable_partition(
        pairs, [&first](const convert::EventPair& pair) { return pair.after == first->after; });
  }
  return pairs;
}

std::vector<PageTab> EmptyTabs(const Profile& profile, const convert::FoldedOptions& options) {
  std::vector<PageTab> tabs;
  if (!options.differential) {
    for (const EventId event : convert::EventsWithSamples(profile)) {
      tabs.push_back({.events = event, .name = profile.text(profile[event].name)});
    }
    return tabs;
  }
  for (const convert::EventPair& pair : PairsOf(profile)) {
    tabs.push_back(
        {.events = {pair.after, pair.before}, .name = pair.name.empty() ? "samples" : pair.name});
  }
  return tabs;
}

// Returns what decides whether a call is too small for the page: its total, on both sides.
std::vector<std::int64_t> WeightsOf(const StackTree& tree) {
  std::vector<std::int64_t> weights = TotalsOf(tree);
  std::ranges::transform(
      weights, TotalsOf(tree, &StackNode::before), weights.begin(),
      [](std::int64_t a, std::int64_t b) { return convert::AddUpToLimit(a, b); });
  return weights;
}

std::vector<PageTab> TabsOf(const Profile& profile, RootedFrameTable& frames, KeepSamples keep) {
  std::vector<PageTab> tabs = EmptyTabs(profile, frames.options());
  std::vector<StackForest> forests;
  for (const PageTab& tab : tabs) {
    forests.push_back(StackForest::Of(profile, tab.events, frames, keep));
  }
  const std::vector<std::uint32_t> ranks = frames.Ranks();
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    StackTree& tree = tabs[i].tree;
    tree = forests[i].Join(ranks);
    if (tree.nodes.size() <= kMostNodes) continue;
    const std::vector<std::int64_t> weights = WeightsOf(tree);
    FoldSmallCalls(tree, weights, SmallestForAtMost(weights, kMostNodes));
  }
  return tabs;
}

// Shows the event with the largest amount first, among those with the unit of the first one, unless
// the profile names an event to show.
void ShowLargestFirst(const Profile& profile, std::vector<PageTab>& tabs) {
  if (tabs.empty() || !profile.metadata().default_value.empty()) return;
  const std::string_view unit = ShownUnit(profile, tabs.front());
  std::size_t largest = 0;
  std::int64_t most = tabs.front().tree.total();
  for (std::size_t i = 1; i < tabs.size(); ++i) {
    const std::int64_t total = tabs[i].tree.total();
    if (total <= most || ShownUnit(profile, tabs[i]) != unit) continue;
    largest = i;
    most = total;
  }
  const auto first = tabs.begin();
  std::rotate(first, first + static_cast<std::ptrdiff_t>(largest),
              first + static_cast<std::ptrdiff_t>(largest) + 1);
}

std::optional<TimeLanes> LanesOf(const Profile& profile, const std::vector<PageTab>& tabs,
                                 const PageTimes& times) {
  std::vector<LaneTab> of_lanes;
  for (const PageTab& tab : tabs)
    of_lanes.push_back({.event = tab.events.event, .tree = &tab.tree});
  const timeline::Timeline timeline =
      timeline::Timeline::Build(profile, {.events = times.events,
                                          .switches = times.switches,
                                          .event_names = times.event_names,
                                          .window = times.window,
                                          .pauses = times.pauses});
  return MakeTimeLanes(timeline, of_lanes,
                       {.tasks = times.events,
                        .trigger = times.trigger,
                        .windows = times.windows,
                        .window_name = times.window_name,
                        .sample_step_ns = times.sample_step_ns});
}

}  // namespace

Result<FlameGraphReport> WriteHtml(const Profile& profile, const convert::FoldedOptions& options,
                                   const PageTimes& times, OutputFile& out) {
  if (options.differential) TRY(CheckDifferential(profile));
  RootedFrameTable frames(profile, options);
  // Two sides have no common time.
  const bool has_times = !options.differential && convert::HasTimes(profile);
  std::vector<PageTab> tabs =
      TabsOf(profile, frames, has_times ? KeepSamples::kYes : KeepSamples::kNo);
  ShowLargestFirst(profile, tabs);
  std::optional<TimeLanes> lanes;
  if (has_times) lanes = LanesOf(profile, tabs, times);
  const std::vector<std::byte> plain =
      EncodePage(profile, frames, tabs, lanes ? &*lanes : nullptr, times.compared);
  TRY_ASSIGN(const std::vector<std::byte> packed, pprof::Gzip(plain, kGzipLevel));
  TRY(out.Write(UnpackText(kPageBeforeData)));
  TRY(out.Write(Base64(packed)));
  TRY(out.Write(UnpackText(kPageAfterData)));
  FlameGraphReport report;
  for (const PageTab& tab : tabs) report.negative_samples += tab.tree.negative_samples;
  return report;
}

}  // namespace perftape::flame_graph
