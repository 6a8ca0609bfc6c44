// SPDX-License-Identifier: Apache-2.0
// path_pages < VECTORS: for each vector of a table like path_vectors.json, writes a line of JSON
// with what a page gets of it, and what critical_path.cc finds. path_test.mjs compares that with
// what the scripts of the page find.
//
//   page    the data of the page (page_data.h), in Base64
//   walks   by walk of the vector: {steps, explained, hops, parts}; steps and hops are texts, parts
//           are [comm, reason, function, nanoseconds]
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "convert/export/flame_graph/page_data.h"
#include "convert/export/flame_graph/stack_tree.h"
#include "convert/export/flame_graph/time_lanes.h"
#include "convert/export/shown_numbers.h"
#include "convert/timeline/critical_path.h"
#include "formats/base/base64.h"
#include "tests/convert/timeline/path_vectors.h"

namespace perftape::flame_graph {
namespace {

using convert::EventId;
using convert::Profile;
using nlohmann::json;
using timeline::CriticalPath;
using timeline::PathVector;
using timeline::Timeline;

std::string PageOf(const Timeline& timeline, const convert::TaskEvents& events) {
  const Profile& profile = timeline.profile();
  RootedFrameTable frames(profile, {});
  std::vector<PageTab> tabs;
  std::vector<StackForest> forests;
  for (const EventId event : convert::EventsWithSamples(profile)) {
    tabs.push_back({.events = event, .name = profile.text(profile[event].name)});
    forests.push_back(StackForest::Of(profile, event, frames, KeepSamples::kYes));
  }
  std::vector<LaneTab> of_lanes;
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    tabs[i].tree = forests[i].Join(frames.Ranks());
    of_lanes.push_back({.event = tabs[i].events.event, .tree = &tabs[i].tree});
  }
  const auto lanes = MakeTimeLanes(timeline, of_lanes, {.tasks = events});
  return Base64(EncodePage(profile, frames, tabs, lanes ? &*lanes : nullptr));
}

// The innermost function of a stack; empty without one.
std::string_view FunctionOf(const Profile& profile, convert::StackId stack) {
  if (stack == convert::StackId{}) return {};
  return profile.text(profile[profile[profile[stack].leaf].lines.front().function].name);
}

std::string_view CommOf(const Profile& profile, convert::ThreadId thread) {
  return profile.text(profile[thread].comm);
}

json PartsOf(const Timeline& timeline, const CriticalPath& path) {
  const Profile& profile = timeline.profile();
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::int64_t> sums;
  for (const timeline::PathPart& part : ToProfile(timeline, path).parts) {
    sums[{CommOf(profile, part.thread), NameOf(part.reason), FunctionOf(profile, part.stack)}] +=
        part.ns;
  }
  json parts = json::array();
  for (const auto& [key, ns] : sums) {
    const auto& [comm, reason, function] = key;
    parts.push_back({comm, reason, function, ns});
  }
  return parts;
}

json HopTexts(const Timeline& timeline, const CriticalPath& path) {
  json hops = json::array();
  for (const timeline::Hop& hop : HopsOf(timeline, path)) {
    hops.push_back(fmt::format("{}+{} {} {}", hop.start_ns, hop.ns,
                               CommOf(timeline.profile(), hop.thread), NameOf(hop.reason)));
  }
  return hops;
}

json LineOf(const PathVector& vector) {
  const Timeline timeline = Timeline::Build(vector.profile, vector.options);
  json walks = json::array();
  for (const timeline::VectorWalk& walk : vector.walks) {
    const std::uint32_t thread = ThreadNamed(timeline, walk.thread);
    if (thread == timeline::kNone) {
      walks.push_back(nullptr);
      continue;
    }
    const CriticalPath path = WalkPath(timeline, {{.thread = thread, .time = walk.time}});
    walks.push_back({{"steps", TextsOf(timeline, path)},
                     {"explained", path.explained_ns()},
                     {"hops", HopTexts(timeline, path)},
                     {"parts", PartsOf(timeline, path)}});
  }
  return {{"page", PageOf(timeline, vector.options.events)}, {"walks", std::move(walks)}};
}

}  // namespace
}  // namespace perftape::flame_graph

int main() try {
  const std::string table(std::istreambuf_iterator<char>(std::cin), {});
  for (const auto& vector : perftape::timeline::ReadPathVectors(table)) {
    std::cout << perftape::flame_graph::LineOf(vector) << '\n';
  }
  return std::cout.flush() ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "path_pages: {}\n", error.what());
  return 1;
}
