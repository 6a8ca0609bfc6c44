// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convert/rewrite/rewrite_report.h"
#include "tools/common/cli/json_text.h"
#include "tools/common/profiles/symbol_json.h"
#include "tools/convert/report.h"

namespace perftape::convert_tool {
namespace {

using Json = nlohmann::ordered_json;

Json UnwoundJson(const offline_unwind::UnwindReport& unwound) {
  using unwind::WalkEnd;
  return {{"samples", unwound.samples()},
          {"whole", unwound.whole()},
          {"no_table", unwound.EndedAs(WalkEnd::kNoTable)},
          {"no_rule", unwound.EndedAs(WalkEnd::kNoRule)},
          {"unreadable", unwound.EndedAs(WalkEnd::kUnreadable)},
          {"too_deep", unwound.EndedAs(WalkEnd::kTooDeep)},
          {"no_progress", unwound.EndedAs(WalkEnd::kNoProgress)},
          {"of_32_bit", unwound.of_32_bit},
          {"unsupported", unwound.unsupported},
          {"missing", unwound.missing}};
}

Json InputJson(const convert::InputReport& input) {
  const convert::ImportReport& read = input.read;
  Json json = {{"name", input.name},
               {"format", input.format},
               {"samples", read.samples},
               {"lost_samples", read.lost_samples},
               {"lost_records", read.lost_records},
               {"skipped_samples", read.skipped_samples},
               {"unknown_events", read.unknown_events},
               {"without_user_frames", read.without_user_frames},
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
  if (read.unwound.samples() != 0) json["unwound"] = UnwoundJson(read.unwound);
  if (!input.event.empty()) json["event"] = input.event;
  if (!input.other_events.empty()) json["other_events"] = input.other_events;
  return json;
}

// Plain values are `value`, in units of 10^-decimals if the event has decimals.
Json TotalJson(const convert::EventTotals& event, const convert::Total& total) {
  if (event.values == convert::EventValues::kPlain) return {{"value", total.period}};
  return {{"samples", total.samples}, {"period", total.period}};
}

Json EventJson(const convert::EventTotals& event) {
  Json json = {{"name", event.name}, {"unit", event.unit}};
  if (event.decimals != 0) json["decimals"] = event.decimals;
  json["read"] = TotalJson(event, event.read);
  json["kept"] = TotalJson(event, event.kept);
  json["dropped"] = Json::object();
  for (std::size_t i = 0; i < convert::kFilters; ++i) {
    const convert::Total& total = event.dropped[i];
    if (total.samples == 0 && total.period == 0) continue;
    json["dropped"][cli::OptionOf(ConvertCommand(), convert::Filter(i))] = TotalJson(event, total);
  }
  return json;
}

Json OutputJson(const Plan& plan) {
  return {{"name", plan.output.native()}, {"format", plan.to->name}};
}

Json FilesJson(const std::vector<EventFile>& files) {
  Json list = Json::array();
  for (const EventFile& file : files) {
    list.push_back({{"name", file.path.native()}, {"event", file.name}});
  }
  return list;
}

Json CountsJson(const rewrite::RecordCounts& counts) {
  Json object = Json::object();
  for (const auto& [type, count] : counts) object[RecordName(type)] = count;
  return object;
}

// The location has the same form as in the report of perftape-recover.
Json DroppedJson(const rewrite::DroppedRecord& record) {
  Json json = {{"type", RecordName(record.header.type)}, {"offset", record.header.file_offset}};
  if (record.header.inside >= 0) json["inside"] = record.header.inside;
  if (record.header.part != 0) json["file"] = fmt::format("data.{}", record.header.part - 1);
  json["size"] = record.size;
  json["reason"] = record.reason;
  return json;
}

}  // namespace

std::string ReportJson(const ConversionReport& report, const Plan& plan) {
  Json json = {{"output", OutputJson(plan)}, {"inputs", Json::array()}, {"events", Json::array()}};
  for (const convert::InputReport& input : report.inputs)
    json["inputs"].push_back(InputJson(input));
  for (const convert::InputReport& input : report.base) json["base"].push_back(InputJson(input));
  for (const convert::EventTotals& event : report.filter.events)
    json["events"].push_back(EventJson(event));
  json["left_out_events"] = report.left_out_events;
  if (plan.file_per_event) json["files"] = FilesJson(report.files);
  json["losses"] = report.losses;
  json["symbols"] = cli::SymbolsJson(report.symbols);
  if (!report.empty_because.empty()) json["empty_because"] = report.empty_because;
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

std::string ReportJson(const rewrite::NormalizeReport& report, const Plan& plan) {
  Json json = {{"output", OutputJson(plan)},
               {"inputs", Json::array({{{"name", plan.inputs.front().native()},
                                        {"format", plan.to->name},
                                        {"samples", report.samples()},
                                        {"problems", LossLines(report)}}})},
               {"records", CountsJson(report.kept)},
               {"moved_to_header", CountsJson(report.moved)},
               {"left_out", CountsJson(report.left_out)},
               {"filtered_samples", report.filtered_samples},
               {"lost", CountsJson(report.lost)},
               {"dropped", Json::array()}};
  for (const rewrite::DroppedRecord& record : report.dropped) {
    json["dropped"].push_back(DroppedJson(record));
  }
  if (report.damage) json["damage"] = report.damage->message;
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::convert_tool
