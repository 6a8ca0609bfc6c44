// SPDX-License-Identifier: Apache-2.0
#include "record/triggers/trigger_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "formats/base/duration.h"
#include "formats/base/percent.h"
#include "record/events/known_events.h"

namespace perftape::record {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::string_view kPressure = "psi:", kWait = "offcpu>", kBusy = "cpu>";
static_assert(kWait.starts_with(kOffCpu));
constexpr std::string_view kResources[] = {"cpu", "memory", "io"};
// kernel/sched/psi.c, WINDOW_MIN_US and WINDOW_MAX_US.
constexpr microseconds kShortestPressure{500'000}, kLongestPressure{10'000'000};
// /proc/stat counts ticks of 10 ms.
constexpr nanoseconds kShortestBusy = std::chrono::milliseconds(500);
constexpr nanoseconds kLongestBusy = std::chrono::hours(1);
constexpr std::uint64_t kMostPerSecond = 1'000'000;

std::unexpected<Error> NoTrigger(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// A time above 0, with a unit.
std::optional<nanoseconds> TimeOf(std::string_view text) {
  const std::optional<nanoseconds> time = DurationOf(text, nanoseconds(0));
  return time && time->count() > 0 ? time : std::nullopt;
}

struct Share {
  double percent = 0;
  nanoseconds window{};
};

// "20%/1s"
std::optional<Share> ShareOf(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<double> percent = PercentOf(text.substr(0, slash), PercentSign::kRequired);
  const std::optional<nanoseconds> window = TimeOf(text.substr(slash + 1));
  if (!percent || !window || *percent == 0) return std::nullopt;
  return Share{.percent = *percent, .window = *window};
}

std::string_view NextWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

Result<PressureCondition> ParsePressure(std::string_view text) {
  PressureCondition condition;
  condition.resource = NextWord(text);
  const std::string_view level = NextWord(text);
  const std::optional<Share> share = ShareOf(NextWord(text));
  const bool is_known = std::ranges::find(kResources, condition.resource) != std::end(kResources);
  const bool has_level = level == "some" || level == "full";
  if (!is_known || !has_level || !share || !NextWord(text).empty()) {
    return NoTrigger(
        "write psi:RESOURCE LEVEL PERCENT%/TIME with cpu, memory or io, and some or full, such as "
        "'psi:cpu some 20%/1s'");
  }
  condition.is_full = level == "full";
  condition.window = std::chrono::duration_cast<microseconds>(share->window);
  if (condition.window < kShortestPressure || condition.window > kLongestPressure) {
    return NoTrigger("the kernel measures pressure over 500ms to 10s");
  }
  condition.stalled = microseconds(std::max<std::int64_t>(
      1, std::llround(static_cast<double>(condition.window.count()) * share->percent / 100)));
  return condition;
}

Result<BusyCondition> ParseBusy(std::string_view text) {
  const std::optional<Share> share = ShareOf(text);
  if (!share) return NoTrigger("write cpu>PERCENT%/TIME, such as 'cpu>80%/5s'");
  if (share->percent == 100) return NoTrigger("CPUs are never busy for more than 100 %");
  if (share->window < kShortestBusy || share->window > kLongestBusy) {
    return NoTrigger("the time must be 500ms to 1h");
  }
  return BusyCondition{.percent = share->percent, .window = share->window};
}

// "1000/s"
std::optional<double> RateOf(std::string_view text) {
  constexpr std::string_view kPerSecond = "/s";
  if (!text.ends_with(kPerSecond)) return std::nullopt;
  text.remove_suffix(kPerSecond.size());
  return DecimalOf(text);
}

Result<SampleCondition> ParseSample(std::string_view text) {
  const std::size_t above = text.rfind('>');
  SampleCondition condition{.event = std::string(text.substr(0, above))};
  if (condition.event.empty() || condition.event.contains(' ')) {
    return NoTrigger(
        "write EVENT, EVENT>N/s, offcpu>TIME, cpu>PERCENT%/TIME or psi:RESOURCE LEVEL "
        "PERCENT%/TIME; EVENT is a name without options");
  }
  if (above == std::string_view::npos) return condition;
  const std::optional<double> rate = RateOf(text.substr(above + 1));
  if (!rate || *rate > kMostPerSecond || *rate != std::floor(*rate)) {
    return NoTrigger(
        "write EVENT>N/s with a whole number of at most 1000000, such as "
        "'page-faults>1000/s'");
  }
  condition.per_second = static_cast<std::uint64_t>(*rate);
  return condition;
}

}  // namespace

Result<TriggerSpec> ParseTrigger(std::string_view text) {
  TriggerSpec spec{.text = std::string(text)};
  if (text.starts_with(kPressure)) {
    TRY_ASSIGN(spec.condition, ParsePressure(text.substr(kPressure.size())));
  } else if (text.starts_with(kWait)) {
    const std::optional<nanoseconds> time = TimeOf(text.substr(kWait.size()));
    if (!time) {
      return NoTrigger("write offcpu>TIME with " + std::string(kDurationUnits) +
                       ", such as 'offcpu>500ms'");
    }
    spec.condition = WaitCondition{.longer_than = *time};
  } else if (text.starts_with(kBusy)) {
    TRY_ASSIGN(spec.condition, ParseBusy(text.substr(kBusy.size())));
  } else {
    TRY_ASSIGN(spec.condition, ParseSample(text));
  }
  return spec;
}

}  // namespace perftape::record
