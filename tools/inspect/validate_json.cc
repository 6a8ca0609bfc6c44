// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/validate_json.h"

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"

namespace perftape::inspect {
namespace {

using perfdata::Finding;
using perfdata::Report;
using perfdata::RuleInfo;
using perfdata::Severity;
using Json = nlohmann::ordered_json;

Json JsonOf(perfdata::Readers readers) {
  Json names = Json::array();
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

std::string ValidationJson(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.InFileOrder()) findings.push_back(JsonOf(finding));
  Json counts = Json::object(), sums = Json::object();
  for (const RuleInfo& info : perfdata::AllRules()) {
    const Report::Tally& tally = report.tally(info.rule);
    if (tally.count > 0) counts[std::string(info.name)] = tally.count;
    if (!tally.sum.empty()) sums[std::string(info.name)] = tally.sum;
  }
  const Json json = {{"validate",
                      {{"clean", report.is_clean()},
                       {"errors", report.CountOf(Severity::kError)},
                       {"warnings", report.CountOf(Severity::kWarning)},
                       {"notes", report.CountOf(Severity::kNote)},
                       {"breaks", JsonOf(report.broken())},
                       {"findings", std::move(findings)},
                       {"counts", std::move(counts)},
                       {"sums", std::move(sums)}}}};
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect
