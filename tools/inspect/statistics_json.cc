// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/statistics_json.h"

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json EventsOf(const Statistics& statistics, const perfdata::EventTable& events) {
  Json all = Json::array();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventStatistics& of_event = statistics.events[i];
    all.push_back({{"name", events[i].name},
                   {"samples", of_event.samples},
                   {"period", of_event.period},
                   {"lost_samples", of_event.lost_samples}});
  }
  return all;
}

Json SharesOf(const std::map<std::string, Share>& shares) {
  Json all = Json::array();
  for (const auto& [name, share] : shares) {
    all.push_back({{"name", name}, {"samples", share.samples}, {"period", share.period}});
  }
  return all;
}

}  // namespace

std::string StatisticsJson(const Statistics& statistics, const perfdata::EventTable& events) {
  Json records = Json::object();
  for (const auto& [type, count] : statistics.records) records[RecordName(type)] = count;
  Json stats = {
      {"records", std::move(records)},
      {"events", EventsOf(statistics, events)},
      {"comms", SharesOf(statistics.comms)},
      {"dsos", SharesOf(statistics.dsos)},
      {"lost", {{"LOST", statistics.lost_records}, {"LOST_SAMPLES", statistics.lost_samples}}},
      {"skipped_samples", statistics.skipped_samples},
      {"cut_off_samples", statistics.cut_off_samples}};
  if (statistics.damage) stats["damage"] = statistics.damage->message;
  const Json json = {{"stats", std::move(stats)}};
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect
