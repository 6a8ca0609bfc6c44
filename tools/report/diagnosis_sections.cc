// SPDX-License-Identifier: Apache-2.0
#include "tools/report/diagnosis_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/perfdata/period_unit.h"
#include "tools/report/path_names.h"

namespace perftape::report_tool {
namespace {

using bundle::NotedCgroup;
using diagnose::Calls;
using diagnose::Facts;
using diagnose::Finding;
using diagnose::Severity;
using diagnose::SlowCall;

Quantity Time(double ns) {
  return {.value = ns, .unit = perfdata::kNanoseconds};
}

// A number, or nothing if it is 0.
Cell NumberUnlessNone(std::uint64_t number) {
  return number == 0 ? Cell(std::string()) : Cell(static_cast<std::int64_t>(number));
}

Cell TimeUnlessNone(double ns) {
  return ns == 0 ? Cell(std::string()) : Cell(Time(ns));
}

std::string PidText(const Calls& calls) {
  if (calls.process.pid != 0) return fmt::format("{}", calls.process.pid);
  return calls.pids.size() > 1 ? fmt::format("{} processes", calls.pids.size()) : std::string();
}

// Returns the innermost functions of a stack: "fsync <- write_log <- main".
std::string StackText(const PathNames& names, convert::StackId stack, std::size_t most) {
  const std::vector<std::string> frames = names.Frames(stack);
  std::string text;
  for (const std::string& frame : frames | std::views::reverse | std::views::take(most)) {
    if (!text.empty()) text += " <- ";
    text += frame;
  }
  return frames.size() > most ? text + " <- …" : text;
}

// Leaves out the rows after the first `most`.
void Limit(Table& table, std::size_t most) {
  if (table.rows.size() <= most) return;
  table.note = fmt::format("{} more (-n N shows N)", table.rows.size() - most);
  table.rows.resize(most);
}

Remark RemarkOf(const Finding& finding, const diagnose::Diagnosis& diagnosis) {
  const diagnose::Rule& rule = *finding.rule.rule;
  std::string text = fmt::format("{}: {} [{}: {}]", diagnose::SubjectOf(finding.measurement),
                                 diagnose::SentenceOf(finding), rule.name,
                                 diagnose::ThresholdText(rule, finding.rule.threshold));
  if (finding.cause) {
    text += fmt::format(", explained by {}", diagnosis.findings[*finding.cause].rule.rule->name);
  }
  return {.label = std::string(NameOf(rule.severity)),
          .text = std::move(text),
          .level = finding.cause ? std::size_t{1} : std::size_t{0},
          .is_bad = rule.severity == Severity::kCritical};
}

std::string SlowCallText(const SlowCall& call, const PathNames& names) {
  constexpr std::size_t kFrames = 6;
  std::string text = CellText(Time(static_cast<double>(call.ns) /
                                   static_cast<double>(std::max<std::uint64_t>(call.count, 1))));
  if (!call.error.empty()) text += " " + call.error;
  if (!call.object.empty()) text += " " + call.object;
  return text + ": " + StackText(names, call.stack, kFrames);
}

Section FindingSection(const ShownDiagnosis& shown, const PathNames& names,
                       const ReportPlan& plan) {
  const diagnose::Diagnosis& diagnosis = shown.diagnosis;
  const auto causes = static_cast<std::uint64_t>(
      std::ranges::count_if(diagnosis.findings, [](const Finding& one) { return !one.cause; }));
  Section section{.title = "Diagnosis"};
  section.lines = {diagnosis.findings.empty()
                       ? "nothing found"
                       : fmt::format("{}, {} of them explained by others",
                                     Counted(diagnosis.findings.size(), "finding"),
                                     diagnosis.findings.size() - causes)};
  for (const Finding& finding : diagnosis.findings | std::views::take(plan.functions)) {
    section.remarks.push_back(RemarkOf(finding, diagnosis));
    const std::size_t level = section.remarks.back().level + 1;
    for (const std::size_t index : finding.measurement.slow_calls | std::views::take(1)) {
      section.remarks.push_back(
          {.label = "",
           .text = "for example " + SlowCallText(shown.facts.slow_calls[index], names),
           .level = level});
    }
  }
  if (diagnosis.findings.size() > plan.functions) {
    section.remarks.push_back({.label = "",
                               .text = fmt::format("{} more (-n N shows N)",
                                                   diagnosis.findings.size() - plan.functions)});
  }
  return section;
}

Section FineSection(const diagnose::Diagnosis& diagnosis) {
  Section section{.title = "Looked at, and fine"};
  Table table{.title = "Rules",
              .columns = {{.title = "Largest"},
                          {.title = "Threshold", .align = kLeft},
                          {.title = "Rule", .align = kLeft},
                          {.title = "Of", .align = kLeft}}};
  for (const diagnose::Passed& passed : diagnosis.passed) {
    const diagnose::Rule& rule = *passed.rule.rule;
    std::string of = passed.measurements == 1 ? diagnose::SubjectOf(passed.largest)
                     : passed.largest.value == 0
                         ? fmt::format("all {}", passed.measurements)
                         : fmt::format("{}, the largest of {}", diagnose::SubjectOf(passed.largest),
                                       passed.measurements);
    table.rows.push_back({diagnose::FigureText(UnitOf(rule.figure), passed.largest.value),
                          diagnose::ThresholdText(rule, passed.rule.threshold),
                          std::string(rule.name), std::move(of)});
  }
  if (table.rows.empty()) {
    section.lines = {"nothing"};
  } else {
    section.tables.push_back(std::move(table));
  }
  return section;
}

Section GapSection(const diagnose::Diagnosis& diagnosis) {
  Section section{.title = "Not seen"};
  for (const std::string& gap : diagnosis.gaps) section.remarks.push_back({.text = gap});
  if (diagnosis.gaps.empty()) section.lines = {"nothing is missing"};
  return section;
}

// Returns those with the most time, in the order of the facts: by cgroup, process and probe.
std::vector<const Calls*> LargestCalls(const Facts& facts, std::size_t most) {
  std::vector<const Calls*> calls;
  for (const Calls& one : facts.calls) calls.push_back(&one);
  std::ranges::stable_sort(calls, std::greater<>(), &Calls::sum_ns);
  calls.resize(std::min(calls.size(), most));
  std::ranges::sort(calls);
  return calls;
}

Table CallTable(const Facts& facts, const ReportPlan& plan) {
  Table table{.title = "Calls",
              .columns = {{.title = "Process", .align = kLeft},
                          {.title = "PID", .align = kLeft},
                          {.title = "Probe", .align = kLeft},
                          {.title = "Calls"},
                          {.title = "Per second", .is_optional = true},
                          {.title = "Failed"},
                          {.title = "p50"},
                          {.title = "p95"},
                          {.title = "p99"},
                          {.title = "Max"},
                          {.title = "Cgroup", .align = kLeft}}};
  for (const Calls* calls : LargestCalls(facts, plan.functions)) {
    const double rate = facts.seconds > 0 ? static_cast<double>(calls->count) / facts.seconds : 0;
    table.rows.push_back({calls->process.comm, PidText(*calls), calls->probe,
                          static_cast<std::int64_t>(calls->count),
                          calls->has_histogram ? fmt::format("{:.1f}", rate) : std::string(),
                          NumberUnlessNone(calls->failures()), TimeUnlessNone(calls->p50_ns),
                          TimeUnlessNone(calls->p95_ns), TimeUnlessNone(calls->p99_ns),
                          TimeUnlessNone(static_cast<double>(calls->max_ns)),
                          calls->process.place()});
  }
  if (table.rows.size() < facts.calls.size()) {
    table.note = fmt::format("{} more (-n N shows N)", facts.calls.size() - table.rows.size());
  }
  return table;
}

// Failed calls with one error.
struct Failure {
  const Calls* calls = nullptr;
  const diagnose::FailedCalls* most = nullptr;  // those of the most frequent object
  std::size_t objects = 0;                      // how many different ones
  std::uint64_t count = 0;
};

std::vector<Failure> FailuresOf(const Calls& calls) {
  std::vector<Failure> failures;
  for (const diagnose::FailedCalls& failed : calls.failed) {
    auto known = std::ranges::find_if(
        failures, [&](const Failure& one) { return one.most->error == failed.error; });
    if (known == failures.end()) {
      failures.push_back({.calls = &calls, .most = &failed});
      known = std::prev(failures.end());
    }
    ++known->objects;
    known->count += failed.count;
  }
  return failures;
}

Table FailureTable(const Facts& facts, const ReportPlan& plan) {
  Table table{.title = "Failed calls",
              .columns = {{.title = "Calls"},
                          {.title = "Error", .align = kLeft},
                          {.title = "Probe", .align = kLeft},
                          {.title = "Process", .align = kLeft},
                          {.title = "PID", .align = kLeft},
                          {.title = "Of", .align = kLeft}}};
  std::vector<Failure> all;
  for (const Calls& calls : facts.calls) {
    const std::vector<Failure> of_calls = FailuresOf(calls);
    all.insert(all.end(), of_calls.begin(), of_calls.end());
  }
  std::ranges::stable_sort(all, std::greater<>(), &Failure::count);
  for (const Failure& failure : all) {
    const std::size_t others = failure.objects - 1;
    std::string of = failure.most->object;
    if (others > 0) of += fmt::format(" and {} more", others);
    table.rows.push_back({static_cast<std::int64_t>(failure.count), failure.most->error,
                          failure.calls->probe, failure.calls->process.comm,
                          PidText(*failure.calls), std::move(of)});
  }
  Limit(table, plan.functions);
  return table;
}

Table SlowTable(const ShownDiagnosis& shown, const PathNames& names, const ReportPlan& plan) {
  constexpr std::size_t kFrames = 12;
  const Facts& facts = shown.facts;
  Table table{.title = "Slowest calls",
              .columns = {{.title = "Time"},
                          {.title = "At", .is_optional = true},
                          {.title = "Probe", .align = kLeft},
                          {.title = "Process", .align = kLeft},
                          {.title = "Error", .align = kLeft},
                          {.title = "Of", .align = kLeft},
                          {.title = "Stack, innermost frame first", .align = kLeft}}};
  const std::size_t most_of_probe = (plan.functions + 3) / 4;
  std::map<std::string_view, std::size_t> of_probe;
  for (const SlowCall& call : facts.slow_calls) {
    // Many calls of some probes wait by design, as reads of pipes do.
    if (table.rows.size() == plan.functions) break;
    if (++of_probe[call.probe] > most_of_probe) continue;
    const double at = call.end_ns == 0 || facts.start_ns == 0
                          ? 0
                          : static_cast<double>(call.end_ns - facts.start_ns) / kNsPerSecond;
    table.rows.push_back({Time(static_cast<double>(call.ns) / static_cast<double>(call.count)),
                          at > 0 ? fmt::format("{:.3f} s", at) : std::string(), call.probe,
                          fmt::format("{} ({})", call.process.comm, call.process.pid), call.error,
                          call.object, StackText(names, call.stack, kFrames)});
  }
  if (facts.slow_calls.size() > table.rows.size()) {
    table.note = fmt::format("at most {} of each probe; {} more (-n N shows N)", most_of_probe,
                             facts.slow_calls.size() - table.rows.size());
  }
  return table;
}

std::string MiB(std::uint64_t bytes) {
  return bytes == 0 ? std::string()
                    : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

Table CgroupTable(const Facts& facts, const ReportPlan& plan) {
  Table table{.title = "Cgroups",
              .columns = {{.title = "CPU limit"},
                          {.title = "CPU time"},
                          {.title = "Throttled"},
                          {.title = "Memory limit"},
                          {.title = "At first"},
                          {.title = "At last"},
                          {.title = "Peak"},
                          {.title = "OOM kills"},
                          {.title = "Tasks"},
                          {.title = "Cgroup", .align = kLeft}}};
  for (const NotedCgroup& cgroup : facts.cgroups) {
    const bundle::CgroupUse &first = cgroup.first, &last = cgroup.last;
    const std::uint64_t periods = last.periods - std::min(last.periods, first.periods);
    const std::uint64_t throttled =
        last.throttled_periods - std::min(last.throttled_periods, first.throttled_periods);
    table.rows.push_back(
        {cgroup.cpu_quota_us == 0 || cgroup.cpu_period_us == 0
             ? std::string()
             : fmt::format("{:.2f} CPUs", static_cast<double>(cgroup.cpu_quota_us) /
                                              static_cast<double>(cgroup.cpu_period_us)),
         TimeUnlessNone(static_cast<double>(last.cpu_ns - std::min(last.cpu_ns, first.cpu_ns))),
         periods == 0 ? std::string() : fmt::format("{} of {}", throttled, periods),
         MiB(cgroup.memory_limit), MiB(first.memory_bytes), MiB(last.memory_bytes),
         MiB(cgroup.memory_peak),
         NumberUnlessNone(last.oom_kills - std::min(last.oom_kills, first.oom_kills)),
         NumberUnlessNone(last.tasks), cgroup.path});
  }
  Limit(table, plan.functions);
  return table;
}

Table PeerTable(const Facts& facts, const ReportPlan& plan) {
  Table table{.title = "TCP, by peer",
              .columns = {{.title = "Retransmissions"},
                          {.title = "Resets received"},
                          {.title = "Resets sent"},
                          {.title = "Peer", .align = kLeft}}};
  for (const diagnose::Peer& peer : facts.peers) {
    table.rows.push_back({static_cast<std::int64_t>(peer.retransmissions),
                          static_cast<std::int64_t>(peer.resets_received),
                          static_cast<std::int64_t>(peer.resets_sent), peer.address});
  }
  Limit(table, plan.functions);
  return table;
}

Table KillTable(const Facts& facts, const ReportPlan& plan) {
  Table table{.title = "Killed for lack of memory",
              .columns = {{.title = "At"},
                          {.title = "PID"},
                          {.title = "Process", .align = kLeft},
                          {.title = "Cgroup", .align = kLeft}}};
  for (const diagnose::OomKill& kill : facts.oom_kills) {
    const bool has_time = kill.time_ns > facts.start_ns && facts.start_ns != 0;
    table.rows.push_back(
        {has_time ? fmt::format("{:.3f} s",
                                static_cast<double>(kill.time_ns - facts.start_ns) / kNsPerSecond)
                  : std::string(),
         NumberUnlessNone(kill.process.pid), kill.process.comm, kill.process.place()});
  }
  Limit(table, plan.functions);
  return table;
}

Section FigureSection(const ShownDiagnosis& shown, const PathNames& names, const ReportPlan& plan) {
  Section section{.title = "Figures"};
  if (shown.facts.seconds > 0) {
    section.lines = {fmt::format("{:.3f} s were recorded", shown.facts.seconds)};
  }
  for (Table& table :
       std::vector<Table>{CallTable(shown.facts, plan), FailureTable(shown.facts, plan),
                          SlowTable(shown, names, plan), CgroupTable(shown.facts, plan),
                          KillTable(shown.facts, plan), PeerTable(shown.facts, plan)}) {
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
  }
  return section;
}

}  // namespace

std::vector<Section> DiagnosisSections(const ShownDiagnosis& shown, const ReportPlan& plan) {
  const PathNames names(shown.profile);
  return {FindingSection(shown, names, plan), FineSection(shown.diagnosis),
          GapSection(shown.diagnosis), FigureSection(shown, names, plan)};
}

std::vector<Section> RuleSections(const diagnose::RuleSet& rules) {
  Table table{.title = "Rules",
              .columns = {{.title = "Rule", .align = kLeft},
                          {.title = "Severity", .align = kLeft},
                          {.title = "Threshold", .align = kLeft},
                          {.title = "Finding", .align = kLeft}}};
  for (const diagnose::Rule& rule : diagnose::Rules()) {
    const auto active = std::ranges::find(rules.active(), &rule, &diagnose::ActiveRule::rule);
    table.rows.push_back({std::string(rule.name), std::string(NameOf(rule.severity)),
                          active == rules.active().end()
                              ? std::string("off")
                              : diagnose::ThresholdText(rule, active->threshold),
                          diagnose::TextOf(rule, "…")});
  }
  return {Section{.title = "Rules of a diagnosis",
                  .lines = {"causes come before what they explain"},
                  .tables = {std::move(table)}}};
}

}  // namespace perftape::report_tool
