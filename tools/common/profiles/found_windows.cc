// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/found_windows.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "convert/timeline/timeline.h"

namespace perftape::cli {
namespace {

using timeline::Timeline;
using timeline::Window;

// A pipe can be read only once.
Result<bool> IsPerfDataFile(const std::filesystem::path& path, const convert::Format* given) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  TRY_ASSIGN(const Input input, convert::OpenInput(path));
  TRY_ASSIGN(const convert::Format* const format, convert::FormatOf(input, given));
  return format->name == convert::kPerfDataFormat;
}

// Reads the samples of the two events.
Result<convert::Profile> ReadEvents(const std::filesystem::path& path,
                                    const convert::CombineOptions& options,
                                    const timeline::EventPairs& events) {
  convert::CombineOptions of_events = options;
  of_events.look_up_names = false;
  of_events.import.histogram_bins = 0;
  of_events.import.wants_event = [&events](std::string_view name) {
    return events.from.Match(name) || events.to.Match(name);
  };
  convert::Combiner combiner(of_events);
  TRY_ASSIGN(Input input, convert::OpenInput(path));
  TRY(combiner.Add(std::move(input)));
  return std::move(combiner).Finish();
}

convert::TimeRange RangeOf(const FoundWindows& found) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const auto* const windows : {&found.chosen, &found.against}) {
    for (const timeline::ThreadWindow& window : *windows) {
      first = std::min(first, window.time.start);
      last = std::max(last, window.time.end);
    }
  }
  return {.from = convert::TimePoint{.nanoseconds = first},
          .to = convert::TimePoint{.nanoseconds = last}};
}

}  // namespace

Status FindWindows(const std::vector<std::filesystem::path>& inputs,
                   const convert::CombineOptions& options, TimeViewPlan& plan) {
  const TimeViewOptions& view = plan.time_view;
  const bool chooses = view.windows.slowest || view.windows.percentiles;
  if (view.view != TimeView::kPath || view.events.from.empty() || !chooses) return {};
  TRY_ASSIGN(const bool is_file, IsPerfDataFile(inputs.front(), options.from));
  if (!is_file) return {};
  TRY_ASSIGN(const convert::Profile profile, ReadEvents(inputs.front(), options, view.events));
  const Timeline timeline = Timeline::Build(profile, {});
  Result<std::vector<Window>> windows = WindowsBetween(timeline, view.events, ChoiceOf(plan));
  if (!windows) return {};
  FoundWindows found;
  found.lengths = timeline::LengthsOf(*windows);
  if (view.against) {
    found.against = WithIds(timeline, Choose(*windows, {.percentiles = view.against}));
  }
  found.chosen = WithIds(timeline, Choose(*std::move(windows), view.windows));
  plan.import.time = RangeOf(found);
  plan.time_view.found = std::move(found);
  return {};
}

void ForgetOtherTimes(const TimeViewPlan& plan, convert::InputReport& report) {
  if (plan.time_view.found) report.read.outside_time = 0;
}

}  // namespace perftape::cli
