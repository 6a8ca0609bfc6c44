// SPDX-License-Identifier: Apache-2.0
#include "tools/recover/report_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "formats/base/counted.h"
#include "formats/json/write.h"
#include "formats/perfdata/features.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"

namespace perftape::recover_tool {
namespace {

using cli::EscapeForTerminal;
using rewrite::AttributesFrom;
using rewrite::FeatureFate;
using rewrite::FeatureOutcome;
using rewrite::RecoverReport;
using rewrite::Stretch;
using Json = json::Value;
using RecordCounts = std::map<perfdata::RecordType, std::uint64_t>;

std::string_view TextOf(AttributesFrom from) {
  switch (from) {
    case AttributesFrom::kTable:
      return "attribute table";
    case AttributesFrom::kEventDesc:
      return "EVENT_DESC";
    case AttributesFrom::kRecords:
      return "ATTR records";
  }
  return "";
}

std::string_view TextOf(FeatureFate fate) {
  switch (fate) {
    case FeatureFate::kKept:
      return "kept";
    case FeatureFate::kMade:
      return "made";
    case FeatureFate::kRebuilt:
      return "rebuilt";
    case FeatureFate::kLeftOut:
      return "left out";
    case FeatureFate::kDropped:
      return "dropped";
  }
  return "";
}

std::string CountLines(std::string_view title, const RecordCounts& counts) {
  if (counts.empty()) return "";
  std::string text = fmt::format("{}:\n", title);
  for (const auto& [type, count] : counts) {
    text += fmt::format("  {:>12}  {}\n", count, perfdata::RecordName(type));
  }
  return text;
}

std::string LeftOutLines(const RecoverReport& report) {
  if (report.left_out.empty()) return "";
  std::string text = "records left out, because perf 6.1 does not know them:\n";
  for (const auto& [type, count] : report.left_out) {
    text += fmt::format("  {:>12}  {}, the first at {}\n", count, perfdata::RecordName(type),
                        rewrite::TextOf(report.first_left_out.at(type)));
  }
  return text;
}

std::string DroppedLines(const RecoverReport& report) {
  if (report.stretches == 0) return "";
  std::string text = fmt::format(
      "dropped: {} in {}\n", Counted(report.dropped_bytes, "byte"),
      report.stretches == 1 ? "1 stretch" : fmt::format("{} stretches", report.stretches));
  for (const Stretch& stretch : report.dropped) {
    text += fmt::format("  at {}: {}: {}\n", rewrite::TextOf(stretch.position),
                        Counted(stretch.size, "byte"), EscapeForTerminal(stretch.reason));
  }
  if (report.stretches > report.dropped.size()) {
    text += fmt::format("  and {} more\n", report.stretches - report.dropped.size());
  }
  return text;
}

std::string FeatureLines(const RecoverReport& report) {
  std::string kept, others;
  for (const FeatureOutcome& feature : report.features) {
    const std::string name = perfdata::FeatureName(feature.bit);
    if (feature.fate == FeatureFate::kKept) {
      kept += fmt::format("{}{}", kept.empty() ? "" : ", ", name);
    } else {
      others += fmt::format("  {} {}: {}\n", TextOf(feature.fate), name,
                            EscapeForTerminal(feature.reason));
    }
  }
  if (kept.empty() && others.empty()) return "";
  return fmt::format("features: kept {}\n{}", kept.empty() ? "none" : kept, others);
}

Json CountsJson(const RecordCounts& counts) {
  Json object = Json::EmptyObject();
  for (const auto& [type, count] : counts) object[perfdata::RecordName(type)] = count;
  return object;
}

}  // namespace

std::string ReportText(const RecoverReport& report, std::string_view input,
                       std::string_view output) {
  std::string text = fmt::format(
      "{}: {} and {} in {}; {}\n", EscapeForTerminal(input), Counted(report.samples(), "sample"),
      Counted(report.records() - report.samples(), "other record"), EscapeForTerminal(output),
      report.is_whole() ? "nothing was lost" : "something was lost or guessed");
  text += fmt::format("{}, from the {}\n", Counted(report.events, "event"),
                      TextOf(report.attributes_from));
  text += CountLines("records kept", report.kept);
  text += LeftOutLines(report);
  if (report.resized_records > 0) {
    text +=
        fmt::format("records whose header has too large a size, written with their real size: {}\n",
                    report.resized_records);
  }
  if (!report.corrections.empty()) text += "corrected values of the file:\n";
  for (const std::string& correction : report.corrections) {
    text += fmt::format("  {}\n", EscapeForTerminal(correction));
  }
  return text + DroppedLines(report) + FeatureLines(report);
}

std::string ReportJson(const RecoverReport& report, std::string_view input,
                       std::string_view output) {
  Json object = {cli::SchemaMember(cli::kRecoverSchema)};
  object["input"] = input;
  object["output"] = output;
  object["whole"] = report.is_whole();
  object["container"] = report.container == perfdata::Container::kPipe ? "pipe" : "file";
  object["events"] = report.events;
  object["attributes_from"] = TextOf(report.attributes_from);
  object["samples"] = report.samples();
  object["records"] = CountsJson(report.kept);
  object["moved_to_header"] = CountsJson(report.moved);
  object["left_out"] = CountsJson(report.left_out);
  object["first_left_out"] = Json::EmptyObject();
  for (const auto& [type, position] : report.first_left_out) {
    object["first_left_out"][perfdata::RecordName(type)] = rewrite::TextOf(position);
  }
  object["resized_records"] = report.resized_records;
  object["repairs"] = report.corrections;
  object["dropped_bytes"] = report.dropped_bytes;
  object["dropped_stretches"] = report.stretches;
  object["dropped"] = Json::EmptyList();
  for (const Stretch& stretch : report.dropped) {
    Json entry = {{"offset", stretch.position.offset}};
    if (stretch.position.is_inside) entry["inside"] = stretch.position.inside;
    entry["size"] = stretch.size;
    entry["reason"] = stretch.reason;
    object["dropped"].push_back(std::move(entry));
  }
  object["features"] = Json::EmptyList();
  for (const FeatureOutcome& feature : report.features) {
    Json entry = {{"name", perfdata::FeatureName(feature.bit)}, {"fate", TextOf(feature.fate)}};
    if (!feature.reason.empty()) entry["reason"] = feature.reason;
    object["features"].push_back(std::move(entry));
  }
  return json::Text(object, json::Layout::kIndented);
}

}  // namespace perftape::recover_tool
