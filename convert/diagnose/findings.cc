// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "convert/diagnose/gaps.h"

namespace perftape::diagnose {
namespace {

bool IsBeyond(const ActiveRule& active, double value) {
  return active.rule->comparison == Comparison::kMoreThan ? value > active.threshold
                                                          : value >= active.threshold;
}

bool IsSameSubject(const Measurement& a, const Measurement& b) {
  return a.process == b.process && (a.process != Process{} || a.object == b.object);
}

// Whether a measurement is about a cgroup below `path`, or about a process in it.
bool IsIn(const Measurement& measurement, std::string_view path, const Facts& facts) {
  if (IsWithin(measurement.process.cgroup, path)) return true;
  return std::ranges::any_of(facts.cgroups, [&](const bundle::NotedCgroup& cgroup) {
    return cgroup.path == path && std::ranges::any_of(measurement.pids, [&](std::uint32_t pid) {
             return std::ranges::count(cgroup.pids, pid) != 0;
           });
  });
}

// Whether one finding can explain another: it is about the same process, about a cgroup that this
// one is in, about the peer of its calls, or about the machine.
bool Concerns(const Finding& cause, const Finding& symptom, const Facts& facts) {
  const Measurement& of = cause.measurement;
  if (cause.rule.rule->IsOfPeers()) {
    // Calls of read and write have a descriptor, not a peer.
    const bool has_peer = symptom.rule.rule->probe.starts_with("tcp");
    return !has_peer || symptom.measurement.object == of.object;
  }
  if (of.process.pid == 0 && of.process.comm.empty() && !of.process.cgroup.empty()) {
    return IsIn(symptom.measurement, of.process.cgroup, facts);
  }
  // The kernel's threads write what a process has written, and complete its requests.
  if (cause.rule.rule->probe == "block-io") return true;
  if (cause.rule.rule->figure == Figure::kWaitingShare) return true;
  return IsSameSubject(of, symptom.measurement);
}

bool Names(const Rule& rule, std::string_view cause) {
  return std::ranges::find(rule.causes, cause) != rule.causes.end();
}

// Two rules with several thresholds for one figure find the same. The most severe one is kept.
void RemoveMilder(std::vector<Finding>& findings) {
  const auto is_milder = [&](const Finding& finding) {
    return std::ranges::any_of(findings, [&](const Finding& other) {
      const Rule &a = *finding.rule.rule, &b = *other.rule.rule;
      return b.severity > a.severity && a.figure == b.figure && a.probe == b.probe &&
             a.errors == b.errors && IsSameSubject(finding.measurement, other.measurement);
    });
  };
  std::vector<Finding> kept;
  std::ranges::copy_if(findings, std::back_inserter(kept), std::not_fn(is_milder));
  findings = std::move(kept);
}

std::vector<Finding> FindAll(const Facts& facts, const RuleSet& rules, Diagnosis& diagnosis) {
  std::vector<Finding> findings;
  for (const ActiveRule& active : rules.active()) {
    std::vector<Measurement> measured = Measure(*active.rule, facts);
    if (measured.empty()) continue;
    std::ranges::stable_sort(measured, std::greater<>(), &Measurement::value);
    if (!IsBeyond(active, measured.front().value)) {
      diagnosis.passed.push_back({.rule = active,
                                  .measurements = measured.size(),
                                  .largest = std::move(measured.front())});
      continue;
    }
    for (Measurement& one : measured) {
      if (!IsBeyond(active, one.value)) break;
      findings.push_back({.rule = active, .measurement = std::move(one)});
    }
  }
  return findings;
}

// Sets the cause of each finding: the first one that explains it.
void FindCauses(std::vector<Finding>& findings, const Facts& facts) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool is_cause = Names(*findings[i].rule.rule, findings[j].rule.rule->name) &&
                            Concerns(findings[j], findings[i], facts);
      if (!is_cause) continue;
      findings[i].cause = j;
      break;
    }
  }
}

// Sorts the findings: those without a cause by the severity of all that they explain, each followed
// by what it explains.
std::vector<Finding> InOrder(std::vector<Finding> findings) {
  std::vector<std::size_t> roots(findings.size());
  std::vector<Severity> worst;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    roots[i] = findings[i].cause ? roots[*findings[i].cause] : i;
    worst.push_back(findings[i].rule.rule->severity);
    worst[roots[i]] = std::max(worst[roots[i]], worst[i]);
  }
  std::vector<std::size_t> order(findings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::tuple(-static_cast<int>(worst[roots[i]]), roots[i], i);
  });
  std::vector<std::size_t> new_index(findings.size());
  for (std::size_t i = 0; i < order.size(); ++i) new_index[order[i]] = i;
  std::vector<Finding> sorted;
  for (const std::size_t i : order) {
    Finding finding = std::move(findings[i]);
    if (finding.cause) finding.cause = new_index[*finding.cause];
    sorted.push_back(std::move(finding));
  }
  return sorted;
}

}  // namespace

std::optional<Severity> Diagnosis::worst() const {
  std::optional<Severity> worst;
  for (const Finding& finding : findings) {
    const Severity severity = finding.rule.rule->severity;
    worst = std::max(worst.value_or(severity), severity);
  }
  return worst;
}

Diagnosis Diagnose(const Facts& facts, const RuleSet& rules) {
  Diagnosis diagnosis;
  std::vector<Finding> findings = FindAll(facts, rules, diagnosis);
  RemoveMilder(findings);
  FindCauses(findings, facts);
  diagnosis.findings = InOrder(std::move(findings));
  diagnosis.gaps = GapsOf(facts, rules);
  return diagnosis;
}

std::string SubjectOf(const Measurement& measurement) {
  const Process& process = measurement.process;
  if (process.comm.empty() && process.pid == 0) {
    if (!process.cgroup.empty()) return process.place();
    return measurement.object.empty() ? "the machine" : "peer " + measurement.object;
  }
  std::string text = process.comm;
  if (process.pid != 0) {
    text += fmt::format(" ({})", process.pid);
  } else if (measurement.pids.size() > 1) {
    text += fmt::format(" ({} processes)", measurement.pids.size());
  }
  if (!process.cgroup.empty()) text += " in " + process.place();
  return text;
}

std::string SentenceOf(const Finding& finding) {
  const Rule& rule = *finding.rule.rule;
  const Measurement& measurement = finding.measurement;
  const std::string text = TextOf(rule, FigureText(UnitOf(rule.figure), measurement.value));
  std::string detail = measurement.detail;
  const bool is_in_subject = rule.IsOfPeers();
  if (!measurement.object.empty() && !is_in_subject) {
    detail += (detail.empty() ? "" : ", ") + measurement.object;
  }
  return detail.empty() ? text : fmt::format("{} ({})", text, detail);
}

}  // namespace perftape::diagnose
