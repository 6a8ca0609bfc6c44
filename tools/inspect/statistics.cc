// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/statistics.h"

#include <fmt/format.h>

#include <iterator>

#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/rounds.h"
#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using perfdata::Event;
using perfdata::RecordType;
using perfdata::RecordView;

class Counter {
 public:
  explicit Counter(const perfdata::EventTable& events) : events_(events), deliveries_(events) {
    statistics_.events.resize(events.size());
  }

  void Count(const RecordView& record) {
    ++statistics_.records[record.type];
    const Event* event = events_.EventOf(record);
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
    }
  }

  Statistics Finish(std::optional<Error> damage) && {
    statistics_.damage = std::move(damage);
    return std::move(statistics_);
  }

 private:
  void CountSample(const RecordView& record, const Event* event) {
    const auto sample = event == nullptr ? Result<perfdata::Sample>(std::unexpect)
                                         : DecodeSample(record, event->format);
    if (!sample) {
      ++statistics_.skipped_samples;
      return;
    }
    for (const perfdata::Delivery& delivery : deliveries_.Of(*sample, *event)) {
      EventStatistics& of_event = statistics_.events[events_.IndexOf(*delivery.event)];
      ++of_event.samples;
      of_event.period += delivery.period;
    }
  }

  const perfdata::EventTable& events_;
  perfdata::Deliveries deliveries_;
  Statistics statistics_;
};

// perf's own form: tools/perf/util/hist.c and evsel.c, events_stats__fprintf.
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

}  // namespace

Statistics CountRecords(const perfdata::Reader& reader) {
  Counter counter(reader.events());
  // In time order, for the growth of counters that were read with the samples.
  perfdata::InTimeOrder records(reader.records(), reader.events());
  while (true) {
    Result<std::optional<RecordView>> record = records.Next();
    if (!record) return std::move(counter).Finish(std::move(record).error());
    if (!*record) return std::move(counter).Finish(std::nullopt);
    counter.Count(**record);
  }
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
  text += "\nPeriods:\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    fmt::format_to(end, "{:>16}: {:10} samples, period {}\n",
                   cli::EscapeForTerminal(events[i].name), statistics.events[i].samples,
                   statistics.events[i].period);
  }
  return text;
}

}  // namespace perftape::inspect
