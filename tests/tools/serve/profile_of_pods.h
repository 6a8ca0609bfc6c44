// SPDX-License-Identifier: Apache-2.0
// Windows with samples of pods, for the tests of the service.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/to_pprof.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "formats/perfdata/event_meanings.h"
#include "tools/serve/window.h"

namespace perftape::serve {

struct PodSample {
  std::string_view event = "skb:kfree_skb", pod = "a", function = "f";
  std::int64_t count = 1;
  std::pair<std::string_view, std::string_view> label = {};  // a further one
};

inline convert::Profile ProfileOfPods(const std::vector<PodSample>& samples) {
  using namespace convert;
  ProfileBuilder builder;
  for (const PodSample& sample : samples) {
    const FunctionId function = builder.Add(Function{.name = builder.Add(sample.function)});
    const Line line = {.function = function};
    const LocationId location = builder.Add(Location{.lines = {&line, 1}, .symbol_offset = 0x1f});
    std::vector<Label> labels;
    if (!sample.pod.empty()) {
      labels.push_back({.key = builder.Add(kPodNamespaceLabel), .text = builder.Add("shop")});
      labels.push_back({.key = builder.Add(kPodLabel), .text = builder.Add(sample.pod)});
    }
    if (const auto& [key, text] = sample.label; !key.empty())
      labels.push_back({.key = builder.Add(key), .text = builder.Add(text)});
    const std::string_view unit = perfdata::PeriodUnitOf(sample.event);
    builder.Add(Sample{
        .stack = builder.Push({}, location),
        .thread = builder.Add(Thread{.pid = 7, .tid = 8, .comm = builder.Add("app")}),
        .event = builder.Add(Event{.name = builder.Add(sample.event), .unit = builder.Add(unit)}),
        .labels = builder.Add(labels),
        .count = sample.count,
        .period = unit == perfdata::kCount ? sample.count : sample.count * 1000});
  }
  return std::move(builder).Finish();
}

// A window of the `number`th second.
inline Window WindowOf(std::uint64_t number, const std::vector<PodSample>& samples) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  Window window = {.start_ns = number * kSecond, .end_ns = (number + 1) * kSecond};
  if (!samples.empty())
    window.profile = convert::EncodePprof(ProfileOfPods(samples), kWindowEncoding).value();
  return window;
}

}  // namespace perftape::serve
