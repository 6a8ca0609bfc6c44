// SPDX-License-Identifier: Apache-2.0
#include "tools/report/diagnosis_json.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <utility>

#include "formats/json/write.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/report/path_names.h"

namespace perftape::report_tool {
namespace {

using diagnose::Facts;
using Json = json::Value;

constexpr std::string_view kUnitNames[] = {"percent", "nanoseconds", "count", "per_second"};

std::string_view UnitNameOf(const diagnose::Rule& rule) {
  return kUnitNames[static_cast<std::size_t>(UnitOf(rule.figure))];
}

Json ProcessJson(const diagnose::Process& process, std::size_t processes) {
  Json json = Json::EmptyObject();
  if (!process.cgroup.empty()) json["cgroup"] = process.cgroup;
  if (!process.container.empty()) json["container"] = process.container;
  if (!process.comm.empty()) json["comm"] = process.comm;
  if (process.pid != 0) json["pid"] = process.pid;
  if (processes > 1) json["processes"] = processes;
  return json;
}

Json SlowCallJson(const diagnose::SlowCall& call, const Facts& facts, const PathNames& names) {
  Json json = {{"probe", call.probe}};
  json.Merge(ProcessJson(call.process, 1));
  json["ns"] = call.ns;
  if (call.count != 1) json["count"] = call.count;
  if (call.end_ns != 0 && facts.start_ns != 0) json["at_ns"] = call.end_ns - facts.start_ns;
  if (!call.error.empty()) json["error"] = call.error;
  if (!call.object.empty()) json["object"] = call.object;
  auto frames = Json::EmptyList();
  for (std::string& frame : names.Frames(call.stack) | std::views::reverse) {
    frames.push_back(std::move(frame));
  }
  json["frames"] = std::move(frames);
  return json;
}

Json FindingJson(const diagnose::Finding& finding, const Facts& facts, const PathNames& names) {
  const diagnose::Rule& rule = *finding.rule.rule;
  const diagnose::Measurement& measurement = finding.measurement;
  Json json = {{"rule", rule.name},
               {"severity", NameOf(rule.severity)},
               {"subject", SubjectOf(measurement)}};
  json.Merge(ProcessJson(measurement.process, measurement.pids.size()));
  if (!measurement.object.empty()) json["object"] = measurement.object;
  json["value"] = measurement.value;
  json["threshold"] = finding.rule.threshold;
  json["unit"] = UnitNameOf(rule);
  json["text"] = SentenceOf(finding);
  if (finding.cause) json["cause"] = *finding.cause;
  auto calls = Json::EmptyList();
  for (const std::size_t index : measurement.slow_calls) {
    calls.push_back(SlowCallJson(facts.slow_calls[index], facts, names));
  }
  json["slow_calls"] = std::move(calls);
  return json;
}

Json CallsJson(const diagnose::Calls& calls) {
  Json json = {{"probe", calls.probe}};
  json.Merge(ProcessJson(calls.process, calls.pids.size()));
  json.Merge({{"count", calls.count}, {"sum_ns", calls.sum_ns}, {"max_ns", calls.max_ns}});
  if (calls.has_histogram) {
    json.Merge({{"p50_ns", calls.p50_ns}, {"p95_ns", calls.p95_ns}, {"p99_ns", calls.p99_ns}});
  }
  auto failed = Json::EmptyList();
  for (const diagnose::FailedCalls& one : calls.failed) {
    Json entry = {{"error", one.error}, {"count", one.count}};
    if (!one.object.empty()) entry["object"] = one.object;
    failed.push_back(std::move(entry));
  }
  json["failed"] = std::move(failed);
  return json;
}

Json UseJson(const bundle::CgroupUse& use) {
  return {{"cpu_ns", use.cpu_ns},
          {"periods", use.periods},
          {"throttled_periods", use.throttled_periods},
          {"throttled_ns", use.throttled_ns},
          {"memory_bytes", use.memory_bytes},
          {"memory_failures", use.memory_failures},
          {"oom_kills", use.oom_kills},
          {"tasks", use.tasks}};
}

Json CgroupJson(const bundle::NotedCgroup& cgroup) {
  return {{"path", cgroup.path},
          {"cpu_quota_us", cgroup.cpu_quota_us},
          {"cpu_period_us", cgroup.cpu_period_us},
          {"memory_limit", cgroup.memory_limit},
          {"memory_peak", cgroup.memory_peak},
          {"task_limit", cgroup.task_limit},
          {"first", UseJson(cgroup.first)},
          {"last", UseJson(cgroup.last)}};
}

template <class Range, class ToJson>
Json ListJson(const Range& range, ToJson to_json) {
  auto list = Json::EmptyList();
  for (const auto& one : range) list.push_back(to_json(one));
  return list;
}

Json RuleJson(const diagnose::Rule& rule, double threshold) {
  return {{"rule", rule.name},
          {"severity", NameOf(rule.severity)},
          {"threshold", threshold},
          {"unit", UnitNameOf(rule)}};
}

}  // namespace

std::string DiagnosisJson(const ShownDiagnosis& shown, const ReportPlan& plan) {
  const Facts& facts = shown.facts;
  const diagnose::Diagnosis& diagnosis = shown.diagnosis;
  const PathNames names(shown.profile);
  const Json json = {
      cli::SchemaMember(cli::kReportDiagnosisSchema),
      {"seconds", facts.seconds},
      {"findings", ListJson(diagnosis.findings,
                            [&](const auto& one) { return FindingJson(one, facts, names); })},
      {"fine", ListJson(diagnosis.passed,
                        [](const diagnose::Passed& passed) {
                          Json one = RuleJson(*passed.rule.rule, passed.rule.threshold);
                          one["largest"] = passed.largest.value;
                          one["subject"] = SubjectOf(passed.largest);
                          return one;
                        })},
      {"not_seen", diagnosis.gaps},
      {"calls", ListJson(facts.calls, &CallsJson)},
      {"slow_calls", ListJson(facts.slow_calls | std::views::take(plan.functions),
                              [&](const auto& call) { return SlowCallJson(call, facts, names); })},
      {"cgroups", ListJson(facts.cgroups, &CgroupJson)},
      {"oom_kills",
       ListJson(facts.oom_kills,
                [](const diagnose::OomKill& kill) { return ProcessJson(kill.process, 1); })},
      {"peers", ListJson(facts.peers, [](const diagnose::Peer& peer) -> Json {
         return {{"address", peer.address},
                 {"retransmissions", peer.retransmissions},
                 {"resets_received", peer.resets_received},
                 {"resets_sent", peer.resets_sent}};
       })}};
  return json::Text(json, json::Layout::kIndented);
}

std::string RulesJson(const diagnose::RuleSet& rules) {
  const Json json = {cli::SchemaMember(cli::kReportRulesSchema),
                     {"rules", ListJson(rules.active(), [](const diagnose::ActiveRule& active) {
                        Json one = RuleJson(*active.rule, active.threshold);
                        one["text"] = diagnose::TextOf(*active.rule, "…");
                        auto causes = Json::EmptyList();
                        for (const std::string_view cause : active.rule->causes) {
                          if (!cause.empty()) causes.push_back(cause);
                        }
                        one["causes"] = std::move(causes);
                        return one;
                      })}};
  return json::Text(json, json::Layout::kIndented);
}

}  // namespace perftape::report_tool
