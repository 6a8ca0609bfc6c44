// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "formats/base/counted.h"
#include "formats/base/text.h"
#include "formats/json/write.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using perfdata::Finding;
using perfdata::Readers;
using perfdata::Report;
using perfdata::RuleInfo;
using perfdata::Severity;
using Json = json::Value;

std::string NamesOf(Readers readers) {
  if (readers == perfdata::kEveryReader) return "every reader";
  std::string names;
  for (const perfdata::NamedReader& named : perfdata::kNamedReaders) {
    if (!Overlap(readers, named.reader)) continue;
    names.append(names.empty() ? "" : ", ").append(named.name);
  }
  return names;
}

// Returns "; breaks perf-6.1, hotspot", or nothing.
std::string BreaksText(Readers readers) {
  return readers == Readers::kNone ? "" : "; breaks " + NamesOf(readers);
}

void AppendRule(const RuleInfo& info, const Report::Tally& tally, std::string& text) {
  const std::string sum = tally.sum.empty() ? "" : fmt::format(" ({})", tally.sum);
  AppendFormat(text, "{:>10} {:<7} {}{}{}\n                   {}\n", tally.count,
               NameOf(info.severity), info.name, sum, BreaksText(tally.breaks), info.why);
}

Json JsonOf(perfdata::Readers readers) {
  Json names = Json::EmptyList();
  for (const perfdata::NamedReader& named : perfdata::kNamedReaders) {
    if (Overlap(readers, named.reader)) names.push_back(named.name);
  }
  return names;
}

Json JsonOf(const Finding& finding) {
  const RuleInfo& info = InfoOf(finding.rule);
  Json json = {{"rule", info.name},
               {"severity", NameOf(info.severity)},
               {"offset", finding.offset},
               {"place", finding.position}};
  if (finding.record) json["record"] = RecordName(*finding.record);
  json["message"] = finding.message;
  json["breaks"] = JsonOf(finding.breaks);
  return json;
}

}  // namespace

std::string FindingsText(const Report& report) {
  std::string text;
  for (const Finding& finding : report.InFileOrder()) {
    const RuleInfo& info = InfoOf(finding.rule);
    AppendFormat(text, "{} {} {}: {}{}\n", finding.position, NameOf(info.severity), info.name,
                 cli::EscapeForTerminal(finding.message), BreaksText(finding.breaks));
  }
  return text;
}

std::string VerdictText(const Report& report) {
  std::string text;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    for (const RuleInfo& info : perfdata::AllRules()) {
      const Report::Tally& tally = report.tally(info.rule);
      if (info.severity == severity && tally.count > 0) AppendRule(info, tally, text);
    }
  }
  if (!text.empty()) text = "\nRules:\n" + text;
  AppendFormat(text, "\n{}, {}, {}\n", Counted(report.CountOf(Severity::kError), "error"),
               Counted(report.CountOf(Severity::kWarning), "warning"),
               Counted(report.CountOf(Severity::kNote), "note"));
  const Readers broken = report.broken();
  if (broken != Readers::kNone) {
    text += fmt::format("Rejected, or read with loss, by: {}\n", NamesOf(broken));
  } else if (report.is_clean()) {
    text += "Clean: neither errors nor warnings.\n";
  }
  return text;
}

std::string ValidationJson(const Report& report) {
  Json findings = Json::EmptyList();
  for (const Finding& finding : report.InFileOrder()) findings.push_back(JsonOf(finding));
  Json counts = Json::EmptyObject(), sums = Json::EmptyObject();
  for (const RuleInfo& info : perfdata::AllRules()) {
    const Report::Tally& tally = report.tally(info.rule);
    if (tally.count > 0) counts[std::string(info.name)] = tally.count;
    if (!tally.sum.empty()) sums[std::string(info.name)] = tally.sum;
  }
  const Json json = {{"validate",
                      {cli::SchemaMember(cli::kInspectSchema),
                       {"clean", report.is_clean()},
                       {"errors", report.CountOf(Severity::kError)},
                       {"warnings", report.CountOf(Severity::kWarning)},
                       {"notes", report.CountOf(Severity::kNote)},
                       {"breaks", JsonOf(report.broken())},
                       {"findings", std::move(findings)},
                       {"counts", std::move(counts)},
                       {"sums", std::move(sums)}}}};
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::inspect
