// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/firefox_threads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::EventValues;
using convert::FoldedOptions;
using convert::Label;
using convert::LabelsId;
using convert::Profile;
using convert::Sample;

constexpr std::int64_t kDefaultIntervalNs = 1'000'000;

// The order of the threads. Those of which only the name is known are told apart by it.
struct ThreadKey {
  std::size_t event = 0;  // its index in EventsWithSamples
  std::int32_t pid = -1, tid = -1;
  std::string_view comm = {};  // empty if the tid is known
  auto operator<=>(const ThreadKey&) const = default;
};

// The times of label sets; nothing for sets without one.
std::vector<std::optional<std::int64_t>> TimesOfLabels(const Profile& profile) {
  std::vector<std::optional<std::int64_t>> times(profile.labels().size());
  for (std::uint32_t i = 1; i < times.size(); ++i) {
    const Label* label = convert::FindLabel(profile, LabelsId{i}, convert::kTimestampLabel);
    if (label != nullptr && label->number > 0) times[i] = label->number;
  }
  return times;
}

class Grouping {
 public:
  Grouping(const Profile& profile, const FoldedOptions& options, const convert::Ranks& ranks)
      : profile_(profile),
        values_(convert::ChooseValues(profile, options.value)),
        ranks_(ranks),
        times_(TimesOfLabels(profile)) {
    const std::vector<EventId> events = convert::EventsWithSamples(profile);
    event_order_.resize(profile.events().size());
    for (std::size_t i = 0; i < events.size(); ++i) event_order_[events[i].index] = i;
  }

  FirefoxThreads Run() && {
    GroupSamples();
    FirefoxThreads all;
    all.interval_ns = Interval();
    all.first_time_ns = first_time_.value_or(0);
    std::set<std::tuple<std::int32_t, std::int32_t, std::string_view>> known;
    for (auto& [key, samples] : groups_) {
      SortSamples(samples);
      FirefoxThread thread = ThreadFrom(key, samples, all.interval_ns);
      thread.is_first = known.emplace(key.pid, key.tid, key.comm).second;
      all.threads.push_back(std::move(thread));
      samples = {};
    }
    NameProcesses(all.threads);
    return all;
  }

 private:
  using Group = std::vector<std::uint32_t>;  // indexes of samples

  std::int64_t NumberOf(const Sample& sample) const {
    return FoldedNumber(profile_, values_[sample.event.index], sample);
  }

  ThreadKey KeyOf(const Sample& sample) const {
    const convert::SampleThread thread = convert::ThreadOf(profile_, sample);
    ThreadKey key{.event = event_order_[sample.event.index],
                  .pid = static_cast<std::int32_t>(thread.pid.value_or(convert::kUnknownId)),
                  .tid = static_cast<std::int32_t>(thread.tid.value_or(convert::kUnknownId))};
    if (key.tid == -1) key.comm = thread.comm;
    return key;
  }

  void GroupSamples() {
    for (std::uint32_t i = 0; i < profile_.samples().size(); ++i) {
      const Sample& sample = profile_.samples()[i];
      if (NumberOf(sample) == 0) continue;
      groups_[KeyOf(sample)].push_back(i);
      if (const auto time = times_[sample.labels.index]) {
        first_time_ = std::min(*time, first_time_.value_or(*time));
      }
    }
  }

  // Samples without a time come first.
  void SortSamples(Group& samples) const {
    std::ranges::sort(samples, {}, [this](std::uint32_t i) {
      const Sample& sample = profile_.samples()[i];
      return std::tuple(times_[sample.labels.index], ranks_.stacks[sample.stack.index],
                        ranks_.threads[sample.thread.index], ranks_.labels[sample.labels.index]);
    });
  }

  FirefoxThread ThreadFrom(const ThreadKey& key, const Group& samples,
                           std::int64_t interval) const {
    FirefoxThread thread{
        .event = profile_.samples()[samples.front()].event, .pid = key.pid, .tid = key.tid};
    std::int64_t without_time = 0;
    for (const std::uint32_t i : samples) {
      const Sample& sample = profile_.samples()[i];
      FirefoxSample& made = thread.samples.emplace_back();
      made.stack = sample.stack;
      made.number = NumberOf(sample);
      made.period = sample.period;
      made.comm = convert::ThreadOf(profile_, sample).comm;
      if (const auto time = times_[sample.labels.index]) {
        made.time_ns = *time - *first_time_;
      } else {
        thread.has_times = false;
        made.time_ns = without_time++ * interval;
      }
    }
    if (!thread.has_times) std::ranges::stable_sort(thread.samples, {}, &FirefoxSample::time_ns);
    thread.comm = thread.samples.back().comm;
    return thread;
  }

  // Returns the time between two samples: that of the first event, as recorded, otherwise the
  // median of what is between samples of one thread.
  std::int64_t Interval() const {
    if (groups_.empty()) return kDefaultIntervalNs;
    const EventId event = profile_.samples()[groups_.begin()->second.front()].event;
    const std::uint64_t period = profile_[event].period;
    if (PeriodMeaningOf(profile_, event) == PeriodMeaning::kCpuTime && period > 0 &&
        period < std::uint64_t{std::numeric_limits<std::int32_t>::max()}) {
      return static_cast<std::int64_t>(period);
    }
    std::vector<std::int64_t> gaps;
    for (const auto& [key, samples] : groups_) {
      if (key.event == 0) AddGaps(samples, gaps);
    }
    if (gaps.empty()) return kDefaultIntervalNs;
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::ranges::nth_element(gaps, middle);
    return *middle;
  }

  void AddGaps(const Group& samples, std::vector<std::int64_t>& gaps) const {
    std::vector<std::int64_t> times;
    for (const std::uint32_t i : samples) {
      if (const auto time = times_[profile_.samples()[i].labels.index]) times.push_back(*time);
    }
    std::ranges::sort(times);
    for (std::size_t i = 1; i < times.size(); ++i) {
      if (times[i] > times[i - 1]) gaps.push_back(times[i] - times[i - 1]);
    }
  }

  // A process has the name of its first thread.
  static void NameProcesses(std::vector<FirefoxThread>& threads) {
    std::map<std::int32_t, std::string_view> names;
    for (const FirefoxThread& thread : threads) {
      if (thread.pid == thread.tid && thread.pid != -1) names.emplace(thread.pid, thread.comm);
    }
    for (FirefoxThread& thread : threads) {
      const auto name = names.find(thread.pid);
      thread.process_name = name == names.end() ? thread.comm : name->second;
    }
  }

  const Profile& profile_;
  const std::vector<convert::FoldedValue> values_;  // by EventId
  const convert::Ranks& ranks_;
  const std::vector<std::optional<std::int64_t>> times_;  // by LabelsId
  std::vector<std::size_t> event_order_;                  // by EventId
  std::map<ThreadKey, Group> groups_;
  std::optional<std::int64_t> first_time_;
};

}  // namespace

FirefoxThreads FirefoxThreadsOf(const Profile& profile, const FoldedOptions& options,
                                const convert::Ranks& ranks) {
  return Grouping(profile, options, ranks).Run();
}

PeriodMeaning PeriodMeaningOf(const Profile& profile, EventId id) {
  const convert::Event& event = profile[id];
  if (event.values != EventValues::kSampled || profile.text(event.unit) != perfdata::kNanoseconds) {
    return PeriodMeaning::kOther;
  }
  return perfdata::PeriodMeaningOf(profile.text(event.name));
}

}  // namespace perftape::viewers
