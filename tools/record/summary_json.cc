// SPDX-License-Identifier: Apache-2.0
#include "tools/record/summary_json.h"

#include <nlohmann/json.hpp>

#include "formats/bundle/recording_notes.h"
#include "record/losses/loss_causes.h"
#include "tools/common/cli/json_text.h"
#include "tools/record/chain_ends.h"

namespace perftape::record_tool {
namespace {

using Json = nlohmann::ordered_json;

Json LossesJson(const std::vector<record::LossByCpu>& losses) {
  Json json = Json::array();
  for (const record::LossByCpu& loss : losses) {
    Json of_cpu = {{"cpu", loss.cpu}};
    for (const record::LossCause& cause : record::kLossCauses) {
      of_cpu[std::string(cause.key)] = loss.*cause.samples;
    }
    json.push_back(std::move(of_cpu));
  }
  return json;
}

Json ChainsJson(const record::ChainEnds& ends, std::uint64_t derived) {
  Json json = {{std::string(bundle::kCompleteChain), ends[WIRE_END_OF_STACK]},
               {"derived", derived}};
  for (const ChainEnd& incomplete : kIncompleteEnds) json[incomplete.key] = ends[incomplete.end];
  return json;
}

Json EventJson(const record::EventLosses& event, std::uint64_t samples) {
  Json stalls = Json::array();
  for (const record::StalledCpu& stall : event.stalls) {
    stalls.push_back({{"cpu", stall.cpu}, {"ns", stall.stalled_ns}});
  }
  Json silences = Json::array();
  for (const record::SilentCpu& silence : event.silences) {
    silences.push_back({{"cpu", silence.cpu}, {"expiries", silence.expiries}});
  }
  Json throttled = Json::array();
  for (const record::ThrottledCpu& cpu : event.throttled) {
    throttled.push_back({{"cpu", cpu.cpu}, {"times", cpu.times}, {"ns", cpu.throttled_ns}});
  }
  return {{"name", event.name},
          {"samples", samples},
          {"lost", LossesJson(event.losses)},
          {"stalled", stalls},
          {"silent", silences},
          {"throttled", throttled},
          {"chains", ChainsJson(event.chains.ends, event.chains.derived)}};
}

Json AbsenceJson(const record::AbsentCpu& absence) {
  return {{"cpu", absence.cpu},
          {"from_ns", absence.from_ns},
          {"until_ns", absence.until_ns ? Json(*absence.until_ns) : Json()}};
}

Json BundleJson(const record::BundleSummary& bundle) {
  return {{"files", bundle.files},
          {"bytes", bundle.bytes},
          {"original_bytes", bundle.original_bytes},
          {"missing", bundle.missing}};
}

Json FlightJson(const record::FlightSummary& flight) {
  Json files = Json::array();
  for (const record::FlightFile& file : flight.files) {
    files.push_back(
        {{"file", file.file.native()}, {"trigger", file.trigger}, {"kept_ns", file.kept_ns}});
  }
  return {{"span_ns", flight.span_ns},
          {"kept_ns", flight.kept_ns},
          {"least_kept_ns", flight.least_kept_ns ? Json(*flight.least_kept_ns) : Json()},
          {"dropped_samples", flight.dropped_samples},
          {"ignored_triggers", flight.ignored_triggers},
          {"files", files}};
}

}  // namespace

std::string SummaryJson(const record::RecordSummary& summary, int exit_status) {
  const record::OutputSummary& output = summary.output;
  Json json = {{"file", output.file.native()},
               {"bytes", output.bytes_written},
               {"samples", output.counts.samples},
               {"lost_samples", summary.lost_samples()},
               {"damaged_messages", summary.losses.damaged_messages},
               {"unwritten_samples", output.counts.unwritten_samples},
               {"skipped_hits", summary.skipped_hits},
               {"lost_process_events", summary.lost_process_events()},
               {"events", Json::array()},
               {"absent_cpus", Json::array()}};
  for (std::size_t event = 0; event < summary.losses.events.size(); ++event) {
    json["events"].push_back(
        EventJson(summary.losses.events[event], output.counts.samples_by_event[event]));
  }
  for (const record::AbsentCpu& absence : summary.losses.absences) {
    json["absent_cpus"].push_back(AbsenceJson(absence));
  }
  if (output.counts.aggregate_ns != 0) {
    json["aggregate_ns"] = output.counts.aggregate_ns;
    json["aggregated"] = output.counts.aggregated;
  }
  for (const bundle::NotedRate& rate : summary.rates) {
    json["rates"].push_back(
        {{"time_ns", rate.time_ns}, {"divisor", rate.divisor}, {"cpu_percent", rate.cpu_percent}});
  }
  if (summary.only_user_code) json["only_user_code"] = true;
  if (output.flight) json["flight"] = FlightJson(*output.flight);
  if (output.compression) {
    json["compression"] = {{"original_bytes", output.compression->original},
                           {"compressed_bytes", output.compression->compressed}};
  }
  if (output.bundle) json["bundle"] = BundleJson(*output.bundle);
  if (!output.bundle_failure.empty()) json["bundle_failure"] = output.bundle_failure;
  if (!output.failure.empty()) json["failure"] = output.failure;
  if (!summary.command_failure.empty()) json["command_failure"] = summary.command_failure;
  if (summary.command_status) json["command_status"] = *summary.command_status;
  json["warnings"] = summary.warnings;
  json["exit_status"] = exit_status;
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::record_tool
