// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/gaps.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "convert/diagnose/slow_calls.h"
#include "formats/base/counted.h"
#include "formats/base/text.h"

namespace perftape::diagnose {
namespace {

// Events that some rules need, and what cannot be seen without them.
struct NeededEvent {
  std::string_view event, unseen;
};
constexpr NeededEvent kNeededEvents[] = {
    {kRetransmissionEvent, "TCP segments that were sent again"},
    {kResetReceivedEvent, "connections that a peer reset"},
    {kResetSentEvent, "connections that this machine reset"},
};

void AddProbes(const Facts& facts, const RuleSet& rules, std::vector<std::string>& gaps) {
  std::vector<std::string_view> missing;
  for (const ActiveRule& active : rules.active()) {
    const std::string_view probe = active.rule->probe;
    const bool is_known =
        probe.empty() || facts.probes.contains(probe) || std::ranges::count(missing, probe) != 0;
    if (!is_known) missing.push_back(probe);
  }
  if (missing.empty()) return;
  gaps.push_back(
      fmt::format("calls of these probes were not recorded: {} (perftape-record -e "
                  "latency:{})",
                  Joined(missing, ", "), missing.front()));
}

void AddEvents(const Facts& facts, const RuleSet& rules, std::vector<std::string>& gaps) {
  const bool looks_at_peers = std::ranges::any_of(
      rules.active(), [](const ActiveRule& active) { return active.rule->IsOfPeers(); });
  for (const NeededEvent& needed : kNeededEvents) {
    if (!looks_at_peers || facts.events.contains(needed.event)) continue;
    gaps.push_back(
        fmt::format("{}: not recorded (perftape-record -e {})", needed.unseen, needed.event));
  }
}

void AddCgroups(const Facts& facts, std::vector<std::string>& gaps) {
  if (facts.has_cgroup_usage) return;
  gaps.emplace_back(
      facts.has_notes
          ? "limits of CPU, memory and I/O: no cgroup was noted (perftape-record --cgroup-usage)"
          : "limits of CPU, memory and I/O: the recording has no notes; a recording in pipe form "
            "never has any");
}

void AddLosses(const Facts& facts, std::vector<std::string>& gaps) {
  for (const bundle::NotedLatencyLoss& loss : facts.lost) {
    gaps.push_back(fmt::format("{}{} of {} are not counted: {}",
                               loss.cause == bundle::kMissedRuns ? "up to " : "",
                               Counted(loss.count, "call"), loss.probe, loss.cause));
  }
  if (facts.lost_samples > 0) {
    gaps.push_back(fmt::format("{} lost; slow or failed calls may be among them",
                               Counted(facts.lost_samples, "sample")));
  }
  if (facts.without_times) {
    gaps.emplace_back("single slow calls and their objects: the recording has too many samples");
  }
}

}  // namespace

std::vector<std::string> GapsOf(const Facts& facts, const RuleSet& rules) {
  std::vector<std::string> gaps;
  const bool has_histograms = std::ranges::any_of(facts.calls, &Calls::has_histogram);
  if (!facts.calls.empty() && !has_histograms) {
    gaps.emplace_back(
        "fast calls, rates and percentiles: the recording has no histograms (a recording in pipe "
        "form never has any); only slow or failed calls are counted");
  }
  AddProbes(facts, rules, gaps);
  AddEvents(facts, rules, gaps);
  AddCgroups(facts, gaps);
  AddLosses(facts, gaps);
  return gaps;
}

}  // namespace perftape::diagnose
