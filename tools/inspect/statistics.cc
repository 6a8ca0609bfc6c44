// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/rounds.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/dso_names.h"

namespace perftape::inspect {
namespace {

using perfdata::Event;
using perfdata::RecordType;
using perfdata::RecordView;

class Counter {
 public:
  explicit Counter(const perfdata::Reader& reader)
      : events_(reader.events()), deliveries_(events_), dso_names_(reader) {
    statistics_.events.resize(events_.size());
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
    } else {
      processes_.Apply(record, event->format);
    }
  }

  Statistics Finish(std::optional<Error> damage) && {
    for (const auto& [key, share] : dsos_) {
      Share& of_name = statistics_.dsos[dso_names_.NameOf(key.dso, key.pid)];
      of_name.samples += share.samples;
      of_name.period += share.period;
    }
    statistics_.damage = std::move(damage);
    return std::move(statistics_);
  }

 private:
  // A dso; for generated code also the process, which is in its name.
  struct DsoKey {
    const perfdata::Dso* dso = nullptr;
    std::uint32_t pid = 0;
    auto operator<=>(const DsoKey&) const = default;
  };

  void CountSample(const RecordView& record, const Event* event) {
    if (event == nullptr) {
      ++statistics_.skipped_samples;
      return;
    }
    const Result<perfdata::Sample> whole = DecodeSample(record, event->format);
    const std::optional<perfdata::Sample> sample =
        whole ? std::optional(*whole) : SalvageSample(record, event->format);
    const auto deliveries =
        sample ? deliveries_.Of(*sample, *event) : std::span<const perfdata::Delivery>();
    if (!whole) {
      ++(deliveries.empty() ? statistics_.skipped_samples : statistics_.cut_off_samples);
    }
    if (deliveries.empty()) return;
    Share& of_comm = ShareOfComm(sample->tid);
    Share& of_dso = ShareOfDso(*sample, record.cpumode());
    for (const perfdata::Delivery& delivery : deliveries) {
      EventStatistics& of_event = statistics_.events[events_.IndexOf(*delivery.event)];
      ++of_event.samples;
      of_event.period += delivery.period;
      for (Share* share : {&of_comm, &of_dso}) {
        ++share->samples;
        share->period += delivery.period;
      }
    }
  }

  // Most samples are of the same few threads as the ones before them.
  Share& ShareOfComm(std::uint32_t tid) {
    const std::string_view comm = processes_.CommOf(tid);
    if (last_comm_ == nullptr || last_comm_->first != comm) {
      last_comm_ = &*statistics_.comms.try_emplace(std::string(comm)).first;
    }
    return last_comm_->second;
  }

  Share& ShareOfDso(const perfdata::Sample& sample, perfdata::CpuMode mode) {
    const perfdata::Region* region = processes_.Find(sample.pid, mode, sample.ip);
    DsoKey key{.dso = region == nullptr ? nullptr : region->dso, .pid = 0};
    if (key.dso != nullptr && HoldsGeneratedCode(*key.dso)) key.pid = sample.pid;
    return dsos_[key];
  }

  const perfdata::EventTable& events_;
  perfdata::Deliveries deliveries_;
  perfdata::Processes processes_;
  DsoNames dso_names_;
  Statistics statistics_;
  std::map<DsoKey, Share> dsos_;
  std::pair<const std::string, Share>* last_comm_ = nullptr;  // of statistics_.comms
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

void AppendShares(std::string_view title, const std::map<std::string, Share>& shares,
                  std::string& out) {
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

Statistics CountRecords(const perfdata::Reader& reader) {
  Counter counter(reader);
  // In time order, for comms, mappings, and the growth of counters that were read with the samples.
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
