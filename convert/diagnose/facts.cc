// SPDX-License-Identifier: Apache-2.0
// The facts of all inputs: what each recorder noted, then what the samples say.
#include "convert/diagnose/facts.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "convert/diagnose/call_facts.h"
#include "convert/diagnose/objects.h"
#include "convert/diagnose/slow_calls.h"
#include "formats/base/duration.h"
#include "formats/perfdata/latency_probes.h"

namespace perftape::diagnose {
namespace {

using bundle::NotedCgroup;
using bundle::RecordingNotes;

// Whether a cgroup has a process that the filter keeps, or one that it keeps is in it.
bool Keeps(const convert::FilterOptions& filter, const NotedCgroup& cgroup,
           const RecordingNotes& notes) {
  const bool has_process =
      filter.pids.empty() || std::ranges::any_of(cgroup.pids, [&](std::uint64_t pid) {
        return filter.pids.contains(static_cast<std::int64_t>(pid));
      });
  return has_process && (filter.cgroups.empty() ||
                         std::ranges::any_of(notes.cgroups, [&](const NotedCgroup& other) {
                           return IsWithin(other.path, cgroup.path) &&
                                  filter.cgroups.Match(other.path);
                         }));
}

// "shop/web-0 nginx", or "db".
std::string TextOf(const bundle::NotedContainer& container) {
  if (container.pod.empty()) return container.container;
  std::string text = container.pod_namespace + "/" + container.pod;
  if (!container.container.empty()) text += " " + container.container;
  return text;
}

void AddNotes(const RecordingNotes& notes, const convert::FilterOptions& filter, Facts& facts) {
  facts.has_notes = true;
  if (facts.start_ns == 0) facts.start_ns = static_cast<std::int64_t>(notes.start_ns);
  std::uint64_t recorded_ns = notes.end_ns - std::min(notes.end_ns, notes.start_ns);
  for (const bundle::NotedPauses& pauses : notes.pauses) {
    if (pauses.event.empty()) recorded_ns -= std::min(recorded_ns, pauses.off_ns);
  }
  facts.seconds += static_cast<double>(recorded_ns) / kNsPerSecond;
  std::ranges::copy_if(notes.cgroups, std::back_inserter(facts.cgroups),
                       [&](const NotedCgroup& cgroup) { return Keeps(filter, cgroup, notes); });
  for (const bundle::NotedContainer& one : notes.containers) {
    if (std::string text = TextOf(one); !text.empty()) facts.containers[one.cgroup] = text;
  }
  std::ranges::copy(notes.latency_lost, std::back_inserter(facts.lost));
  for (const bundle::NotedLatencyMin& min : notes.latency_min) facts.probes.insert(min.probe);
}

void AddContainer(const Facts& facts, Process& process) {
  process.container = ContainerOf(facts, process.cgroup);
}

}  // namespace

std::uint64_t Calls::failures() const {
  std::uint64_t count_of_all = 0;
  for (const FailedCalls& one : failed) count_of_all += one.count;
  return count_of_all;
}

std::vector<std::string> NeededFields() {
  std::vector<std::string> fields = ObjectFields();
  fields.insert(fields.end(), {std::string(perfdata::kErrorField.name), "pid", "comm"});
  return fields;
}

bool IsNeeded(std::string_view event) {
  return event == kOomEvent || event == kRetransmissionEvent || event == kResetReceivedEvent ||
         event == kResetSentEvent || perfdata::FindLatencyEvent(event) != nullptr;
}

Facts MakeFacts(const convert::Profile& profile, const std::vector<RecordedInput>& inputs,
                const convert::FilterOptions& filter) {
  Facts facts;
  for (const RecordedInput& input : inputs) {
    if (input.notes) AddNotes(*input.notes, filter, facts);
    facts.lost_samples += input.lost_samples;
    facts.without_times |= input.without_times;
    const bool is_first = &input == &inputs.front();
    facts.cpus = is_first || facts.cpus == input.cpus ? input.cpus : 0;
    for (const std::string& event : input.events) {
      facts.events.insert(event);
      const std::string probe = perfdata::LatencyProbeName(event);
      if (!probe.empty()) facts.probes.insert(probe);
    }
  }
  facts.has_cgroup_usage = !facts.cgroups.empty();
  if (facts.seconds == 0) {
    facts.seconds = static_cast<double>(profile.metadata().duration_ns) / kNsPerSecond;
  }
  AddSamples(profile, facts);
  facts.calls = CallsOf(facts, inputs, filter);
  for (Calls& calls : facts.calls) AddContainer(facts, calls.process);
  for (SlowCall& call : facts.slow_calls) AddContainer(facts, call.process);
  for (OomKill& kill : facts.oom_kills) AddContainer(facts, kill.process);
  return facts;
}

std::string_view CgroupOf(const std::vector<NotedCgroup>& cgroups, std::uint32_t pid) {
  const NotedCgroup* best = nullptr;
  const auto rank = [](const NotedCgroup& cgroup) {
    return std::pair(bundle::HasLimit(cgroup), cgroup.path.size());
  };
  for (const NotedCgroup& cgroup : cgroups) {
    const bool is_better = best == nullptr || rank(cgroup) > rank(*best);
    if (is_better && std::ranges::count(cgroup.pids, pid) != 0) best = &cgroup;
  }
  return best == nullptr ? std::string_view() : best->path;
}

std::string ContainerOf(const Facts& facts, std::string_view cgroup) {
  while (!facts.containers.empty() && !cgroup.empty()) {
    if (const auto found = facts.containers.find(cgroup); found != facts.containers.end()) {
      return found->second;
    }
    cgroup = cgroup.substr(0, cgroup.rfind('/'));
  }
  return {};
}

bool IsWithin(std::string_view cgroup, std::string_view ancestor) {
  if (cgroup.empty() || ancestor.empty()) return false;
  if (ancestor == "/" || cgroup == ancestor) return true;
  return cgroup.starts_with(ancestor) && cgroup[ancestor.size()] == '/';
}

}  // namespace perftape::diagnose
