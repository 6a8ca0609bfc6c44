// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report_json.h"

#include <nlohmann/json.hpp>

#include "convert/rewrite/record_counts.h"
#include "tools/common/profiles/symbol_json.h"

namespace perftape::convert_tool {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json InputJson(const InputReport& input) {
  const ImportReport& read = input.read;
  Json json = {{"name", input.name},
               {"format", input.format},
               {"samples", read.samples},
               {"lost_samples", read.lost_samples},
               {"lost_records", read.lost_records},
               {"skipped_samples", read.skipped_samples},
               {"unknown_events", read.unknown_events},
               {"outside_time", read.outside_time},
               {"skipped_lines", read.skipped_lines},
               {"frames", read.frames},
               {"unmapped_frames", read.unmapped_frames},
               {"jit_dumps", read.jit_dumps},
               {"jit_functions", read.jit_functions},
               {"damaged_records", read.damaged_records},
               {"unknown_records", read.unknown_records},
               {"notes", read.notes},
               {"problems", read.problems}};
  if (!input.event.empty()) json["event"] = input.event;
  if (!input.other_events.empty()) json["other_events"] = input.other_events;
  return json;
}

// Plain values are `value`, in units of 10^-decimals where there are any.
Json TotalJson(const EventTotals& event, const Total& total) {
  if (event.values == EventValues::kPlain) return {{"value", total.period}};
  return {{"samples", total.samples}, {"period", total.period}};
}

Json EventJson(const EventTotals& event) {
  Json json = {{"name", event.name}, {"unit", event.unit}};
  if (event.decimals != 0) json["decimals"] = event.decimals;
  json["read"] = TotalJson(event, event.read);
  json["kept"] = TotalJson(event, event.kept);
  json["dropped"] = Json::object();
  for (std::size_t i = 0; i < kFilters; ++i) {
    const Total& total = event.dropped[i];
    if (total.samples == 0 && total.period == 0) continue;
    json["dropped"][std::string(OptionOf(Filter(i)))] = TotalJson(event, total);
  }
  return json;
}

Json OutputJson(const Plan& plan) {
  return {{"name", plan.output.native()}, {"format", plan.to->name}};
}

Json CountsJson(const rewrite::RecordCounts& counts) {
  Json object = Json::object();
  for (const auto& [type, count] : counts) object[RecordName(type)] = count;
  return object;
}

}  // namespace

std::string ReportJson(const ConversionReport& report, const Plan& plan) {
  Json json = {{"output", OutputJson(plan)}, {"inputs", Json::array()}, {"events", Json::array()}};
  for (const InputReport& input : report.inputs) json["inputs"].push_back(InputJson(input));
  for (const EventTotals& event : report.filter.events) json["events"].push_back(EventJson(event));
  json["left_out_events"] = report.left_out_events;
  json["losses"] = report.losses;
  json["symbols"] = cli::SymbolsJson(report.symbols);
  if (!report.empty_because.empty()) json["empty_because"] = report.empty_because;
  return Text(json);
}

std::string ReportJson(const rewrite::NormalizeReport& report, const Plan& plan) {
  Json json = {{"output", OutputJson(plan)},
               {"inputs", Json::array({{{"name", plan.inputs.front().native()},
                                        {"format", plan.to->name},
                                        {"samples", report.samples()},
                                        {"problems", report.problems}}})},
               {"records", CountsJson(report.kept)},
               {"moved_to_header", CountsJson(report.moved)},
               {"left_out", CountsJson(report.left_out)},
               {"filtered_samples", report.filtered_samples},
               {"lost", CountsJson(report.lost)}};
  if (report.damage) json["damage"] = report.damage->message;
  return Text(json);
}

}  // namespace perftape::convert_tool
