// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string_view>
#include <utility>

#include "convert/export/differential.h"
#include "convert/export/shown_numbers.h"
#include "convert/model/profile_facts.h"
#include "convert/rewrite/rewrite_report.h"
#include "formats/base/counted.h"
#include "formats/base/text.h"
#include "formats/json/write.h"
#include "formats/perfdata/period_unit.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/common/cli/values.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/profiles/symbol_report.h"

namespace perftape::convert_tool {
namespace {

// Returns "5 CALLCHAIN_DEFERRED, 1 type 99".
std::string CountsText(const rewrite::RecordCounts& counts) {
  std::string text;
  for (const auto& [type, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, RecordName(type));
  }
  return text;
}

struct ShownEvent {
  std::string_view name;
  std::vector<convert::EventId> events;  // one, or both of a pair
};

// Returns what the output shows: all events or pairs, or the chosen one.
std::vector<ShownEvent> ShownEvents(const Plan& plan, const convert::Profile& written) {
  std::vector<ShownEvent> shown;
  const bool is_one = plan.to->holds_one_value && !plan.file_per_event;
  if (plan.write.folded.differential) {
    const auto chosen = convert::ChooseEventPair(written);
    for (const convert::EventPair& pair : convert::EventPairsOf(written)) {
      if (is_one && chosen && pair.after != chosen->after) continue;
      shown.push_back({.name = pair.name, .events = {pair.before, pair.after}});
    }
    return shown;
  }
  for (const convert::EventId event : convert::EventsWithSamples(written)) {
    shown.push_back({.name = written.text(written[event].name), .events = {event}});
    if (is_one) break;
  }
  return shown;
}

using Json = json::Value;

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
  json["dropped"] = Json::EmptyObject();
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
  Json list = Json::EmptyList();
  for (const EventFile& file : files) {
    list.push_back({{"name", file.path.native()}, {"event", file.name}});
  }
  return list;
}

Json CountsJson(const rewrite::RecordCounts& counts) {
  Json object = Json::EmptyObject();
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

std::string FilesLine(const EventFile& file) {
  return fmt::format("{}: {} of {}", file.path.native(), file.amount, file.name);
}

std::string RewrittenLine(const rewrite::NormalizeReport& report,
                          const rewrite::ReaderLimits* reader) {
  std::string line = fmt::format("{} in {}", Counted(report.samples(), "sample"),
                                 Counted(report.records(), "record"));
  if (reader != nullptr && !report.left_out.empty()) {
    line += fmt::format("; left out, because perf {} does not know them: {}", reader->version,
                        CountsText(report.left_out));
  }
  return line;
}

std::vector<std::string> LossLines(const rewrite::NormalizeReport& report) {
  constexpr std::size_t kMostRecords = 10;
  std::vector<std::string> lines = report.problems;
  for (const rewrite::DroppedRecord& record : report.dropped | std::views::take(kMostRecords)) {
    lines.push_back(record.reason + "; not written");
  }
  if (const std::uint64_t all = rewrite::TotalOf(report.lost); all > kMostRecords) {
    lines.push_back(fmt::format("and {} more; not written in total: {}", all - kMostRecords,
                                CountsText(report.lost)));
  }
  for (const rewrite::FeatureOutcome& feature : report.features) {
    if (feature.fate == rewrite::FeatureFate::kDropped) {
      lines.push_back(
          fmt::format("feature {} not written: {}", FeatureName(feature.bit), feature.reason));
    } else if (feature.fate == rewrite::FeatureFate::kRebuilt) {
      lines.push_back(fmt::format("feature {} was damaged and rebuilt: {}",
                                  FeatureName(feature.bit), feature.reason));
    }
  }
  if (report.damage) lines.push_back(report.damage->message);
  return lines;
}

std::vector<std::string> FeatureLines(const rewrite::NormalizeReport& report) {
  std::vector<std::string> lines;
  for (const rewrite::FeatureOutcome& feature : report.features) {
    const bool is_made = feature.fate == rewrite::FeatureFate::kMade;
    if (!is_made && feature.fate != rewrite::FeatureFate::kLeftOut) continue;
    lines.push_back(fmt::format("feature {} {}: {}", FeatureName(feature.bit),
                                is_made ? "made" : "left out", feature.reason));
  }
  return lines;
}

std::vector<std::string> EventsBeside(const convert::Profile& profile, convert::EventId chosen) {
  std::vector<std::string> others;
  const convert::FilterReport totals = convert::TotalsOf(profile);
  for (std::uint32_t i = 0; i < totals.events.size(); ++i) {
    const convert::EventTotals& event = totals.events[i];
    if (i == chosen.index || (event.kept.samples == 0 && event.kept.period == 0)) continue;
    others.push_back(event.values == convert::EventValues::kPlain
                         ? event.name
                         : fmt::format("{} ({})", event.name, cli::AmountText(event)));
  }
  return others;
}

bool HoldsOneValue(const Plan& plan) {
  return plan.to->holds_one_value && !plan.write.folded.differential && !plan.file_per_event;
}

bool HoldsOneEvent(const Plan& plan) {
  return plan.to->prefers_one_event && plan.filter.events.empty() && !plan.file_per_event;
}

std::string OneEventLine(const Plan& plan, std::string_view event,
                         const std::vector<std::string>& others) {
  if (plan.to->prefers_one_event) {
    return fmt::format(
        "only the event {} is written, because readers of the text show one: use --event to select "
        "others, or --event '*' for all; there are also {}",
        event, Joined(others, ", "));
  }
  return fmt::format("{} only the event {}: use --event to select one of {}",
                     plan.to->is_text ? "folded lines contain" : "a flame graph shows", event,
                     Joined(others, ", "));
}

std::string NoTimesLine(std::uint64_t samples) {
  return fmt::format(
      "{} samples are too many to show over time: --time-view always shows them, but needs more "
      "memory",
      samples);
}

std::vector<std::string> ValueLines(const Plan& plan, const convert::Profile& written) {
  const bool decides = plan.to->shows_events && !plan.to->default_value && !plan.values;
  if (!decides) return {};
  std::vector<std::string> lines;
  for (const ShownEvent& shown : ShownEvents(plan, written)) {
    const auto value = convert::ChooseValue(written, {}, shown.events);
    if (value == convert::FoldedValue::kSamples) continue;
    const std::string_view unit = written.text(written[shown.events.back()].unit);
    const bool is_time = unit == perfdata::kNanoseconds;
    lines.push_back(fmt::format(
        "{}: {} {}, because the samples stand for different {}; --values samples counts samples",
        shown.name.empty() ? "events" : shown.name,
        plan.to->is_text ? "the numbers are" : "the widths are",
        is_time ? (plan.to->is_text ? "time in nanoseconds" : "time") : "sums of their periods",
        is_time ? "times" : "periods"));
  }
  return lines;
}

std::vector<std::string> LossFacts(const Plan& plan, const ConversionReport& report) {
  std::vector<std::string> facts;
  const auto add = [&facts](std::string_view side,
                            const std::vector<convert::InputReport>& inputs) {
    std::uint64_t samples = 0, records = 0;
    for (const convert::InputReport& input : inputs) {
      samples += input.read.lost_samples;
      records += input.read.lost_records;
    }
    std::vector<std::string> losses;
    if (samples != 0) losses.push_back(Counted(samples, "sample"));
    if (records != 0) losses.push_back(Counted(records, "record"));
    if (losses.empty()) return;
    facts.push_back(fmt::format("{}{}{}{}", side, convert::kLossesFact, convert::kCommentSeparator,
                                Joined(losses, ", ")));
  };
  add(plan.base.empty() ? "" : "after: ", report.inputs);
  if (!plan.base.empty()) add("before: ", report.base);
  return facts;
}

std::string InputsLine(const ConversionReport& report) {
  convert::ImportReport sum;
  for (const convert::InputReport& input : report.inputs) {
    sum.samples += input.read.samples;
    sum.lost_samples += input.read.lost_samples;
    sum.lost_records += input.read.lost_records;
    sum.outside_time += input.read.outside_time;
    sum.skipped_lines += input.read.skipped_lines;
    sum.frames += input.read.frames;
    sum.unmapped_frames += input.read.unmapped_frames;
  }
  return fmt::format("{}: {}", Counted(report.inputs.size(), "input"), cli::ReadLine(sum));
}

std::string WhyEmpty(const Plan& plan, const ConversionReport& report) {
  const std::string start = plan.file_per_event ? "no file is written: " : "the output is empty: ";
  if (plan.inputs.empty()) return start + "this shard has no inputs";
  std::uint64_t samples = 0, outside_time = 0;
  for (const convert::InputReport& input : report.inputs) {
    samples += input.read.samples;
    outside_time += input.read.outside_time;
  }
  if (samples == 0) {
    return start +
           (outside_time == 0 ? "the input has no samples" : "all samples are outside --time");
  }
  const std::vector<std::string> filtered = cli::FilterLines(ConvertCommand(), report.filter);
  if (filtered.empty()) return start + "no event has samples";
  std::string reason = start + Joined(filtered, "; ");
  const bool has_folded = std::ranges::any_of(
      report.inputs, [](const convert::InputReport& input) { return input.format == "folded"; });
  if (has_folded && !plan.filter.comms.empty() && plan.import.root == folded::Root::kNone) {
    reason += "; folded lines have a comm only with --input-root";
  }
  return reason;
}

std::string NoFieldLine(const std::string& field, const std::set<std::string>& fields) {
  const std::string start =
      fmt::format("--labels field:{}: no event has this field", cli::EscapeForTerminal(field));
  if (fields.empty()) {
    return start + ": no input contains a tracepoint with a description of its fields";
  }
  return fmt::format("{}: {}", start, cli::ChooseText(field, fields));
}

std::string ReportJson(const ConversionReport& report, const Plan& plan) {
  Json json = {cli::SchemaMember(cli::kConvertSchema),
               {"output", OutputJson(plan)},
               {"inputs", Json::EmptyList()},
               {"events", Json::EmptyList()}};
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
  return json::Text(json, json::Layout::kOneLine);
}

std::string ReportJson(const rewrite::NormalizeReport& report, const Plan& plan) {
  Json json = {cli::SchemaMember(cli::kConvertRewriteSchema),
               {"output", OutputJson(plan)},
               {"inputs", Json::EmptyList()},
               {"records", CountsJson(report.kept)},
               {"moved_to_header", CountsJson(report.moved)},
               {"left_out", CountsJson(report.left_out)},
               {"filtered_samples", report.filtered_samples},
               {"lost", CountsJson(report.lost)},
               {"dropped", Json::EmptyList()}};
  json["inputs"].push_back({{"name", plan.inputs.front().native()},
                            {"format", plan.to->name},
                            {"samples", report.samples()},
                            {"problems", LossLines(report)}});
  for (const rewrite::DroppedRecord& record : report.dropped) {
    json["dropped"].push_back(DroppedJson(record));
  }
  if (report.damage) json["damage"] = report.damage->message;
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::convert_tool
