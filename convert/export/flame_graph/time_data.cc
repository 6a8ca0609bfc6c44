// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/time_data.h"

#include <algorithm>
#include <string>
#include <utility>

namespace perftape::flame_graph {
namespace {

constexpr std::uint8_t kStateBits = 3;
static_assert(timeline::kStates <= 1 << kStateBits);

class TimeEncoder {
 public:
  TimeEncoder(const TimeLanes& time, TextColumn& texts, Encoder& out)
      : time_(time), texts_(texts), out_(out) {}

  void Encode() {
    AppendFacts();
    AppendLanes();
    AppendIntervals();
    for (std::size_t tab = 0; tab < time_.kinds.size(); ++tab) AppendSamples(tab);
    AppendMarkers();
    AppendWindows();
  }

 private:
  template <class Entries, class NumberOf>
  void Column(const Entries& entries, NumberOf number_of) {
    for (const auto& entry : entries) out_.Number(static_cast<std::uint64_t>(number_of(entry)));
  }

  void AppendFacts() {
    const bool has_intervals =
        std::ranges::any_of(time_.lanes, [](const Lane& lane) { return !lane.intervals.empty(); });
    out_.Number(time_.lanes.size() + 1);
    out_.Number(static_cast<std::uint64_t>(time_.start_ns));
    out_.Number(static_cast<std::uint64_t>(time_.unit_ns));
    out_.Number(time_.length);
    out_.Number(time_.shortest);
    out_.Number(time_.sample_time);
    out_.Number((has_intervals ? kHasIntervals : 0) | (time_.has_all_waits ? kHasAllWaits : 0) |
                (time_.has_wakeups ? kHasWakeups : 0));
    out_.Number(time_.main_lane ? *time_.main_lane + 1 : 0);
    out_.Number(time_.cpu_waits.waited);
    out_.Number(time_.cpu_waits.not_recorded);
    Column(time_.kinds, [](EventKind kind) { return kind; });
  }

  void AppendLanes() {
    Column(time_.lanes, [](const Lane& lane) { return lane.pid; });
    Column(time_.lanes, [](const Lane& lane) { return lane.tid; });
    Column(time_.lanes, [this](const Lane& lane) { return texts_.Add(lane.comm); });
    Column(time_.lanes, [](const Lane& lane) { return lane.start; });
    Column(time_.lanes, [](const Lane& lane) { return lane.parent ? *lane.parent + 1 : 0; });
    Column(time_.lanes, [](const Lane& lane) { return lane.intervals.size(); });
  }

  static std::uint8_t HeadOf(const LaneInterval& interval) {
    std::uint8_t head = static_cast<std::uint8_t>(interval.state);
    if (interval.node != kNoNode) head |= kHasStack;
    if (interval.is_sample) head |= kIsSample;
    if (interval.waker != WakerCode::kNone) head |= kHasWaker;
    if (interval.short_waits != 0) head |= kHasShortWaits;
    if (interval.timeouts != 0) head |= kHasTimeouts;
    return head;
  }

  // Appends a number of each interval whose head has one of these bits.
  template <class NumberOf>
  void IntervalColumn(std::uint8_t bits, NumberOf number_of) {
    for (const Lane& lane : time_.lanes) {
      for (const LaneInterval& interval : lane.intervals) {
        if (bits != 0 && (HeadOf(interval) & bits) == 0) continue;
        out_.Number(static_cast<std::uint64_t>(number_of(interval)));
      }
    }
  }

  void AppendIntervals() {
    IntervalColumn(0, HeadOf);
    IntervalColumn(0, [](const LaneInterval& interval) { return interval.length; });
    IntervalColumn(kHasStack, [](const LaneInterval& interval) { return interval.tab; });
    IntervalColumn(kHasStack, [](const LaneInterval& interval) { return interval.node; });
    IntervalColumn(kHasWaker, [](const LaneInterval& interval) { return interval.waker; });
    IntervalColumn(kHasWaker,
                   [](const LaneInterval& interval) { return interval.woken_before_end; });
    IntervalColumn(kHasShortWaits,
                   [](const LaneInterval& interval) { return interval.short_waits; });
    IntervalColumn(kHasTimeouts, [](const LaneInterval& interval) { return interval.timeouts; });
  }

  void AppendSamples(std::size_t tab) {
    Column(time_.lanes, [tab](const Lane& lane) { return lane.samples[tab].size(); });
    for (const Lane& lane : time_.lanes) {
      std::uint32_t before = 0;
      for (const LaneSample& sample : lane.samples[tab]) {
        out_.Number(sample.time - std::exchange(before, sample.time));
      }
    }
    for (const Lane& lane : time_.lanes) {
      Column(lane.samples[tab], [](const LaneSample& sample) { return sample.node; });
    }
    AppendCounts(tab);
    AppendPeriods(tab);
  }

  enum Numbers : std::uint8_t { kConstant = 0, kColumn = 1, kMultiples = 2 };

  // Returns whether something holds for all samples of a tab.
  template <class Holds>
  bool AreAll(std::size_t tab, Holds holds) const {
    return std::ranges::all_of(time_.lanes, [&](const Lane& lane) {
      return std::ranges::all_of(lane.samples[tab], holds);
    });
  }

  const LaneSample* FirstOf(std::size_t tab) const {
    for (const Lane& lane : time_.lanes) {
      if (!lane.samples[tab].empty()) return &lane.samples[tab].front();
    }
    return nullptr;
  }

  // A page shows no negative numbers.
  void AppendNumber(std::int64_t number) {
    out_.Number(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)));
  }

  void AppendCounts(std::size_t tab) {
    const LaneSample* const first = FirstOf(tab);
    const std::int64_t count = first == nullptr ? 0 : first->count;
    AppendNumbers(tab, &LaneSample::count,
                  AreAll(tab, [count](const LaneSample& one) { return one.count == count; })
                      ? std::optional(std::pair(kConstant, count))
                      : std::nullopt);
  }

  void AppendPeriods(std::size_t tab) {
    const LaneSample* const first = FirstOf(tab);
    const std::int64_t period = first == nullptr ? 0 : first->period;
    const std::int64_t each = first == nullptr || first->count <= 0 ? 0 : period / first->count;
    std::optional<std::pair<Numbers, std::int64_t>> short_form;
    if (AreAll(tab, [period](const LaneSample& one) { return one.period == period; })) {
      short_form = {kConstant, period};
    } else if (AreAll(tab, [each](const LaneSample& one) {
                 std::int64_t product = 0;
                 return !__builtin_mul_overflow(one.count, each, &product) && product == one.period;
               })) {
      short_form = {kMultiples, each};
    }
    AppendNumbers(tab, &LaneSample::period, short_form);
  }

  void AppendNumbers(std::size_t tab, std::int64_t LaneSample::*number,
                     const std::optional<std::pair<Numbers, std::int64_t>>& short_form) {
    out_.Number(short_form ? short_form->first : kColumn);
    if (short_form) return AppendNumber(short_form->second);
    for (const Lane& lane : time_.lanes) {
      for (const LaneSample& sample : lane.samples[tab]) AppendNumber(sample.*number);
    }
  }

  void AppendMarkers() {
    out_.Number(time_.markers.size());
    std::uint32_t before = 0;
    Column(time_.markers, [&before](const Marker& marker) {
      return marker.time - std::exchange(before, marker.time);
    });
    Column(time_.markers, [](const Marker& marker) { return marker.type; });
    Column(time_.markers, [](const Marker& marker) { return marker.lane ? *marker.lane + 1 : 0; });
    Column(time_.markers, [this](const Marker& marker) { return texts_.Add(marker.text); });
  }

  void AppendWindows() {
    const std::vector<LaneWindow>& shown = time_.windows.shown;
    out_.Number(texts_.Add(time_.windows.name));
    out_.Number(time_.windows.count);
    out_.Number(shown.size());
    Column(shown, [](const LaneWindow& window) { return window.lane; });
    std::uint32_t before = 0;
    Column(shown, [&before](const LaneWindow& window) {
      return window.start - std::exchange(before, window.start);
    });
    Column(shown, [](const LaneWindow& window) { return window.length; });
  }

  const TimeLanes& time_;
  TextColumn& texts_;
  Encoder& out_;
};

}  // namespace

void AppendTime(const TimeLanes* lanes, TextColumn& texts, Encoder& out) {
  if (lanes == nullptr) return out.Number(0);
  TimeEncoder(*lanes, texts, out).Encode();
}

}  // namespace perftape::flame_graph
