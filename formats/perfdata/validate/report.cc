// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/report.h"

#include <fmt/core.h>

#include <algorithm>

namespace perftape::perfdata {

void Report::AddAt(Rule rule, std::uint64_t offset, std::string message,
                   std::optional<Readers> breaks) {
  if (!Count(rule, breaks)) return;
  Keep({.rule = rule,
        .offset = offset,
        .position = fmt::format("{:#x}", offset),
        .record = std::nullopt,
        .message = std::move(message),
        .breaks = breaks.value_or(InfoOf(rule).breaks)});
}

bool Report::Count(Rule rule, std::optional<Readers> breaks) {
  Tally& tally = Of(rule);
  tally.breaks = tally.breaks | breaks.value_or(InfoOf(rule).breaks);
  return tally.count++ < kKept;
}

std::vector<Finding> Report::InFileOrder() const {
  std::vector<Finding> findings = kept_;
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.rule < b.rule;
  });
  return findings;
}

std::uint64_t Report::CountOf(Severity severity) const {
  std::uint64_t count = 0;
  for (const RuleInfo& info : AllRules()) {
    if (info.severity == severity) count += tally(info.rule).count;
  }
  return count;
}

Readers Report::broken() const {
  Readers broken = Readers::kNone;
  for (const RuleInfo& info : AllRules()) {
    if (info.severity == Severity::kError) broken = broken | tally(info.rule).breaks;
  }
  return broken;
}

}  // namespace perftape::perfdata
