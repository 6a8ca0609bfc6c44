// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/validate_text.h"

#include <fmt/format.h>

#include <iterator>

#include "formats/base/counted.h"
#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using perfdata::Finding;
using perfdata::Readers;
using perfdata::Report;
using perfdata::RuleInfo;
using perfdata::Severity;

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
  fmt::format_to(std::back_inserter(text), "{:>10} {:<7} {}{}{}\n                   {}\n",
                 tally.count, NameOf(info.severity), info.name, sum, BreaksText(tally.breaks),
                 info.why);
}

}  // namespace

std::string FindingsText(const Report& report) {
  std::string text;
  for (const Finding& finding : report.InFileOrder()) {
    const RuleInfo& info = InfoOf(finding.rule);
    fmt::format_to(std::back_inserter(text), "{} {} {}: {}{}\n", finding.position,
                   NameOf(info.severity), info.name, cli::EscapeForTerminal(finding.message),
                   BreaksText(finding.breaks));
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
  fmt::format_to(std::back_inserter(text), "\n{}, {}, {}\n",
                 Counted(report.CountOf(Severity::kError), "error"),
                 Counted(report.CountOf(Severity::kWarning), "warning"),
                 Counted(report.CountOf(Severity::kNote), "note"));
  const Readers broken = report.broken();
  if (broken != Readers::kNone) {
    text += fmt::format("Refused, or read with loss, by: {}\n", NamesOf(broken));
  } else if (report.is_clean()) {
    text += "Clean: neither errors nor warnings.\n";
  }
  return text;
}

}  // namespace perftape::inspect
