// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "formats/base/text.h"
#include "formats/json/write.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using records::EventStatistics;
using records::Share;
using records::SharesByName;
using records::Statistics;
using Json = json::Value;

void AppendShares(std::string_view title, const SharesByName& shares, std::string& out) {
  std::vector<const std::pair<const std::string, Share>*> sorted;
  for (const auto& share : shares) sorted.push_back(&share);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto* share) { return share->second.samples; });
  AppendFormat(out, "\n{}:\n", title);
  for (const auto* share : sorted) {
    AppendFormat(out, "{:>16}: {:10} samples, period {}\n", cli::EscapeForTerminal(share->first),
                 share->second.samples, share->second.period);
  }
}

Json EventsOf(const Statistics& statistics, const perfdata::EventTable& events) {
  Json all = Json::EmptyList();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventStatistics& of_event = statistics.events[i];
    all.push_back({{"name", events[i].name},
                   {"samples", of_event.samples},
                   {"period", of_event.period},
                   {"lost_samples", of_event.lost_samples}});
  }
  return all;
}

Json SharesOf(const SharesByName& shares) {
  Json all = Json::EmptyList();
  for (const auto& [name, share] : shares) {
    all.push_back({{"name", name}, {"samples", share.samples}, {"period", share.period}});
  }
  return all;
}

}  // namespace

std::string StatisticsLikePerf(const Statistics& statistics, const perfdata::EventTable& events) {
  std::string out;
  std::uint64_t total = 0;
  for (const auto& [type, count] : statistics.records) total += count;
  AppendFormat(out, "\nAggregated stats:\n{:>16} events: {:10}\n", "TOTAL", total);
  for (const auto& [type, count] : statistics.records) {
    const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(total);
    AppendFormat(out, "{:>16} events: {:10}  ({:4.1f}%)\n", RecordName(type), count, percent);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventStatistics& of_event = statistics.events[i];
    if (of_event.samples == 0 && of_event.lost_samples == 0) continue;
    AppendFormat(out, "{} stats:\n", cli::EscapeForTerminal(events[i].name));
    if (of_event.samples != 0) {
      AppendFormat(out, "{:>16} events: {:10}\n", "SAMPLE", of_event.samples);
    }
    if (of_event.lost_samples != 0) {
      AppendFormat(out, "{:>16} events: {:10}\n", "LOST_SAMPLES", of_event.lost_samples);
    }
  }
  return out;
}

std::string StatisticsText(const Statistics& statistics, const perfdata::EventTable& events) {
  std::string text;
  text += StatisticsLikePerf(statistics, events);
  AppendFormat(text, "\nLost:\n{:>16}: {:10} records of any kind\n{:>16}: {:10} samples\n", "LOST",
               statistics.lost_records, "LOST_SAMPLES", statistics.lost_samples);
  if (statistics.skipped_samples != 0) {
    AppendFormat(text, "{:>16}: {:10} samples in the file that cannot be read\n", "skipped",
                 statistics.skipped_samples);
  }
  if (statistics.cut_off_samples != 0) {
    AppendFormat(text, "{:>16}: {:10} samples that are shorter than they declare\n", "cut off",
                 statistics.cut_off_samples);
  }
  text += "\nPeriods:\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    AppendFormat(text, "{:>16}: {:10} samples, period {}\n", cli::EscapeForTerminal(events[i].name),
                 statistics.events[i].samples, statistics.events[i].period);
  }
  AppendShares("Comms", statistics.comms, text);
  AppendShares("Dsos", statistics.dsos, text);
  return text;
}

std::string StatisticsJson(const Statistics& statistics, const perfdata::EventTable& events) {
  Json records = Json::EmptyObject();
  for (const auto& [type, count] : statistics.records) records[RecordName(type)] = count;
  Json stats = {
      cli::SchemaMember(cli::kInspectSchema),
      {"records", std::move(records)},
      {"events", EventsOf(statistics, events)},
      {"comms", SharesOf(statistics.comms)},
      {"dsos", SharesOf(statistics.dsos)},
      {"lost", {{"LOST", statistics.lost_records}, {"LOST_SAMPLES", statistics.lost_samples}}},
      {"skipped_samples", statistics.skipped_samples},
      {"cut_off_samples", statistics.cut_off_samples}};
  if (statistics.damage) stats["damage"] = statistics.damage->message;
  const Json json = {{"stats", std::move(stats)}};
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::inspect
