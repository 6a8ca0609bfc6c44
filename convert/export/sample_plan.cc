// SPDX-License-Identifier: Apache-2.0
#include "convert/export/sample_plan.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/bytes_hash.h"
#include "formats/perfdata/converted.h"

namespace perftape::convert {
namespace {

PlannedThread ThreadFor(const Profile& profile, const Sample& sample) {
  const SampleThread found = ThreadOf(profile, sample);
  const bool is_known =
      sample.thread != ThreadId{} || found.pid || found.tid || !found.comm.empty();
  if (!is_known) return {.pid = perfdata::kNoThread, .tid = perfdata::kNoThread};
  return {.pid = found.pid.value_or(kUnknownId),
          .tid = found.tid.value_or(found.pid.value_or(kUnknownId)),
          .comm = found.comm};
}

// The threads of samples, each determined once.
class Threads {
 public:
  explicit Threads(const Profile& profile) : profile_(profile) {}

  std::uint32_t Of(const Sample& sample) {
    const bool is_from_labels = sample.thread == ThreadId{};
    const std::uint64_t index = is_from_labels ? sample.labels.index : sample.thread.index;
    const std::uint64_t key = index * 2 + (is_from_labels ? 1 : 0);
    const auto [known, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(ThreadFor(profile_, sample));
    return known->second;
  }

  // Returns the sorted threads, and renumbers the threads of `samples` accordingly.
  std::vector<PlannedThread> Sorted(std::vector<PlannedSample>& samples) && {
    std::vector<std::uint32_t> order(all_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return all_[i]; });
    std::vector<PlannedThread> sorted;
    std::vector<std::uint32_t> number(all_.size());
    for (const std::uint32_t i : order) {
      if (sorted.empty() || sorted.back() != all_[i]) sorted.push_back(all_[i]);
      number[i] = static_cast<std::uint32_t>(sorted.size() - 1);
    }
    for (PlannedSample& sample : samples) sample.thread = number[sample.thread];
    return sorted;
  }

 private:
  const Profile& profile_;
  std::vector<PlannedThread> all_;
  tsl::robin_map<std::uint64_t, std::uint32_t, BytesHash> known_;
};

std::uint64_t TimeOf(const Profile& profile, LabelsId labels) {
  if (labels == LabelsId{}) return 0;
  const Label* label = FindLabel(profile, labels, kTimestampLabel);
  return label == nullptr || label->number < 0 ? 0 : static_cast<std::uint64_t>(label->number);
}

std::uint64_t RecordsOf(const Profile& profile, const Sample& sample, SamplePlan& plan) {
  if (sample.count < 0 || sample.period < 0) {
    ++plan.negative;
    return 0;
  }
  if (profile[sample.event].values == EventValues::kPlain) return 1;
  if (sample.count == 0 && sample.period > 0) {
    ++plan.uncounted;
    return 1;
  }
  return static_cast<std::uint64_t>(sample.count);
}

// Gives each sample its share of `most` records, at least one.
void Limit(SamplePlan& plan, std::uint64_t most) {
  if (plan.records <= most) return;
  const double share = static_cast<double>(most) / static_cast<double>(plan.records);
  plan.records = 0;
  for (PlannedSample& sample : plan.samples) {
    const auto reduced = static_cast<std::uint64_t>(static_cast<double>(sample.records) * share);
    const std::uint64_t kept = std::clamp<std::uint64_t>(reduced, 1, sample.records);
    plan.joined = AddUpToLimit(plan.joined, sample.records - kept);
    plan.records += kept;
    sample.records = kept;
  }
}

}  // namespace

SamplePlan PlanSamples(const Profile& profile, const Ranks& ranks, std::uint64_t most_records,
                       std::optional<EventId> event) {
  SamplePlan plan;
  Threads threads(profile);
  for (std::uint32_t i = 0; i < profile.samples().size(); ++i) {
    const Sample& sample = profile.samples()[i];
    if (event && sample.event != *event) continue;
    const std::uint64_t records = RecordsOf(profile, sample, plan);
    if (records == 0) continue;
    plan.records = AddUpToLimit(plan.records, records);
    const std::uint64_t time_ns = TimeOf(profile, sample.labels);
    if (time_ns != 0) {
      plan.first_time_ns = plan.has_times ? std::min(plan.first_time_ns, time_ns) : time_ns;
      plan.last_time_ns = std::max(plan.last_time_ns, time_ns);
      plan.has_times = true;
    }
    plan.samples.push_back(
        {.sample = i, .thread = threads.Of(sample), .time_ns = time_ns, .records = records});
  }
  plan.threads = std::move(threads).Sorted(plan.samples);
  std::ranges::sort(plan.samples, {}, [&](const PlannedSample& planned) {
    const Sample& sample = profile.samples()[planned.sample];
    return std::tuple(planned.time_ns, planned.thread, sample.event,
                      ranks.stacks[sample.stack.index], ranks.labels[sample.labels.index]);
  });
  Limit(plan, most_records);
  return plan;
}

}  // namespace perftape::convert
