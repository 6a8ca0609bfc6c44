// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/to_html.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "convert/export/flame_graph/base64.h"
#include "convert/export/flame_graph/page_data.h"
#include "convert/export/flame_graph/page_files.h"
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

// Returns the events with samples; the one that is shown first is the first.
std::vector<EventId> EventsOf(const Profile& profile) {
  std::vector<bool> has_samples(profile.events().size());
  for (const convert::Sample& sample : profile.samples()) has_samples[sample.event.index] = true;
  std::vector<EventId> events;
  for (std::uint32_t i = 0; i < has_samples.size(); ++i) {
    if (has_samples[i]) events.push_back(EventId{i});
  }
  const auto first = convert::DefaultEvent(profile);
  std::ranges::stable_partition(events, [&](EventId event) { return event == first; });
  return events;
}

std::vector<PageTab> TabsOf(const Profile& profile, FrameTable& frames) {
  std::vector<PageTab> tabs;
  std::vector<StackForest> forests;
  for (const EventId event : EventsOf(profile)) {
    tabs.push_back({.event = event, .tree = {}});
    forests.push_back(StackForest::Of(profile, event, frames));
  }
  const std::vector<std::uint32_t> ranks = frames.Ranks();
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    CallTree& tree = tabs[i].tree;
    tree = forests[i].Join(ranks);
    FoldSmallCalls(tree, SmallestForAtMost(tree, kMostNodes));
  }
  return tabs;
}

}  // namespace

Result<FlameGraphReport> WriteHtml(const Profile& profile, const convert::FoldedOptions& options,
                                   OutputFile& out) {
  FrameTable frames(profile, options);
  const std::vector<PageTab> tabs = TabsOf(profile, frames);
  const std::vector<std::byte> plain = EncodePage(profile, frames, tabs);
  TRY_ASSIGN(const std::vector<std::byte> packed, pprof::Gzip(plain, kGzipLevel));
  TRY(out.Write(kPageBeforeData));
  TRY(out.Write(Base64(packed)));
  TRY(out.Write(kPageAfterData));
  FlameGraphReport report;
  for (const PageTab& tab : tabs) report.negative_samples += tab.tree.negative_samples;
  return report;
}

}  // namespace perftape::flame_graph
