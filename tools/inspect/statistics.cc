// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/rounds.h"
#include "formats/perfdata/sample_completion.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/range_statistics.h"

namespace perftape::inspect {
namespace {

using perfdata::Event;
using perfdata::RecordType;
using perfdata::RecordView;

class Counter {
 public:
  explicit Counter(const perfdata::Reader& reader)
      : events_(reader.events()), deliveries_(events_), shares_(reader) {
    statistics_.events.resize(events_.size());
    if (perfdata::SampleCompletion::IsNeeded(events_)) completion_.emplace(reader);
  }

  // `event` is the event of the record.
  void Count(const RecordView& record, const Event* event) {
    if (last_count_ == nullptr || last_count_->first != record.type) {
      last_count_ = &*statistics_.records.try_emplace(record.type).first;
    }
    ++last_count_->second;
    if (record.type == RecordType::kSample) {
      CountSample(record, event);
    } else if (event == nullptr) {
      return;
    } else if (record.type == RecordType::kLost) {
      if (const auto lost = Decode<perfdata::Lost>(record, event->format)) {
        statistics_.lost_records += lost->count;
      }
    } else if (record.type == RecordType::kLostSamples) {
      if (const auto lost = Decode<perfdata::LostSamples>(record, event->format)) {
        statistics_.lost_samples += lost->count;
        statistics_.events[events_.IndexOf(*event)].lost_samples += lost->count;
      }
    } else {
      shares_.Apply(record, event->format);
    }
  }

  Statistics Finish(std::optional<Error> damage) && {
    statistics_.comms = shares_.by_comm();
    statistics_.dsos = shares_.by_dso();
    statistics_.damage = std::move(damage);
    return std::move(statistics_);
  }

 private:
  void CountSample(const RecordView& record, const Event* event) {
    if (event == nullptr) {
      Miss(record, statistics_.skipped_samples);
      return;
    }
    if (auto sample = DecodeSample(record, event->format)) {
      RecordView completed = record;
      if (completion_) completion_->Complete(completed, *event, *sample, completed_chain_);
      CountDeliveries(*sample, completed, *event);
      return;
    }
    const auto salvaged = RecoverSample(record, event->format);
    const bool counts = salvaged && CountDeliveries(*salvaged, record, *event);
    Miss(record, counts ? statistics_.cut_off_samples : statistics_.skipped_samples);
  }

  void Miss(const RecordView& sample, std::uint64_t& counter) {
    if (statistics_.first_unread.empty()) statistics_.first_unread = PositionOf(sample);
    ++counter;
  }

  // Returns whether the sample counts for any event.
  bool CountDeliveries(const perfdata::Sample& sample, const RecordView& record,
                       const Event& event) {
    const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(sample, event);
    if (deliveries.empty()) return false;
    for (const perfdata::Delivery& delivery : deliveries) {
      EventStatistics& of_event = statistics_.events[events_.IndexOf(*delivery.event)];
      ++of_event.samples;
      of_event.period += delivery.period;
    }
    shares_.Add(sample, record.cpumode(), deliveries);
    return true;
  }

  const perfdata::EventTable& events_;
  perfdata::Deliveries deliveries_;
  SampleShares shares_;
  std::optional<perfdata::SampleCompletion> completion_;  // if samples have to be completed
  std::vector<std::byte> completed_chain_;
  Statistics statistics_;
  // Points into statistics_.records: most records have the type of the previous one.
  std::pair<const RecordType, std::uint64_t>* last_count_ = nullptr;
};

// perf's format: tools/perf/util/hist.c and evsel.c, events_stats__fprintf.
void AppendLikePerf(const Statistics& statistics, const perfdata::EventTable& events,
                    std::string& out) {
  const auto end = std::back_inserter(out);
  std::uint64_t total = 0;
  for (const auto& [type, count] : statistics.records) total += count;
  fmt::format_to(end, "\nAggregated stats:\n{:>16} events: {:10}\n", "TOTAL", total);
  for (const auto& [type, count] : statistics.records) {
    const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(total);
    fmt::format_to(end, "{:>16} events: {:10}  ({:4.1f}%)\n", RecordName(type), count, percent);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventStatistics& of_event = statistics.events[i];
    if (of_event.samples == 0 && of_event.lost_samples == 0) continue;
    fmt::format_to(end, "{} stats:\n", cli::EscapeForTerminal(events[i].name));
    if (of_event.samples != 0) {
      fmt::format_to(end, "{:>16} events: {:10}\n", "SAMPLE", of_event.samples);
    }
    if (of_event.lost_samples != 0) {
      fmt::format_to(end, "{:>16} events: {:10}\n", "LOST_SAMPLES", of_event.lost_samples);
    }
  }
}

void AppendShares(std::string_view title, const SharesByName& shares, std::string& out) {
  std::vector<const std::pair<const std::string, Share>*> sorted;
  for (const auto& share : shares) sorted.push_back(&share);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto* share) { return share->second.samples; });
  const auto end = std::back_inserter(out);
  fmt::format_to(end, "\n{}:\n", title);
  for (const auto* share : sorted) {
    fmt::format_to(end, "{:>16}: {:10} samples, period {}\n", cli::EscapeForTerminal(share->first),
                   share->second.samples, share->second.period);
  }
}

}  // namespace

Statistics CountRecords(const perfdata::Reader& reader, unsigned threads) {
  if (std::optional<Statistics> counted = CountInRanges(reader, threads))
    return *std::move(counted);
  Counter counter(reader);
  // In time order, for comms, mappings, and periods that are computed from counters
  // (PERF_SAMPLE_READ).
  perfdata::InTimeOrder records(reader.records(), reader.events());
  while (records.Step()) counter.Count(records.record(), records.event());
  return std::move(counter).Finish(records.ReleaseFailure());
}

std::string StatisticsText(const Statistics& statistics, const perfdata::EventTable& events) {
  std::string text;
  AppendLikePerf(statistics, events, text);
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "\nLost:\n{:>16}: {:10} records of any kind\n{:>16}: {:10} samples\n", "LOST",
                 statistics.lost_records, "LOST_SAMPLES", statistics.lost_samples);
  if (statistics.skipped_samples != 0) {
    fmt::format_to(end, "{:>16}: {:10} samples in the file that cannot be read\n", "skipped",
                   statistics.skipped_samples);
  }
  if (statistics.cut_off_samples != 0) {
    fmt::format_to(end, "{:>16}: {:10} samples that are shorter than they say\n", "cut off",
                   statistics.cut_off_samples);
  }
  text += "\nPeriods:\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    fmt::format_to(end, "{:>16}: {:10} samples, period {}\n",
                   cli::EscapeForTerminal(events[i].name), statistics.events[i].samples,
                   statistics.events[i].period);
  }
  AppendShares("Comms", statistics.comms, text);
  AppendShares("Dsos", statistics.dsos, text);
  return text;
}

}  // namespace perftape::inspect
