// SPDX-License-Identifier: Apache-2.0
// Makes recordings of incidents: samples of slow calls, and the notes of a recorder.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/diagnose/facts.h"
#include "convert/diagnose/findings.h"
#include "convert/model/label_keys.h"
#include "formats/base/duration.h"
#include "formats/base/latency_buckets.h"
#include "formats/base/percent.h"
#include "formats/perfdata/latency_probes.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::diagnose {

inline constexpr std::uint64_t kMs = 1'000'000;

// The fields of a sample.
using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

class Incident {
 public:
  Incident() {
    notes_.start_ns = kNsPerSecond;
    notes_.end_ns = 11 * kNsPerSecond;
  }

  // The histogram of calls that took `ns` each.
  bundle::NotedLatency& AddCalls(std::string_view probe, std::uint64_t count, std::uint64_t ns,
                                 std::uint32_t pid = 7, std::string_view comm = "app") {
    notes_.latency_min.push_back({.probe = std::string(probe)});
    bundle::NotedLatency& noted = notes_.latency.emplace_back();
    noted.probe = probe;
    noted.pid = pid;
    noted.comm = comm;
    AddTo(noted, count, ns);
    return noted;
  }
  static void AddTo(bundle::NotedLatency& noted, std::uint64_t count, std::uint64_t ns) {
    noted.count += count;
    noted.sum_ns += count * ns;
    noted.max_ns = std::max(noted.max_ns, ns);
    noted.buckets.push_back({static_cast<std::int64_t>(LatencyBucketOf(ns)), count});
  }

  // A sample.
  void AddSample(std::string_view event, const Fields& fields, std::uint64_t ns = 1,
                 std::uint32_t pid = 7, std::string_view comm = "app",
                 std::initializer_list<std::string_view> stack = {"main", "work"}) {
    std::vector<convert::Label> labels;
    for (const auto& [field, text] : fields) labels.push_back(LabelOf(field, text));
    const auto key = made_.builder.Add(convert::kTimestampLabel);
    labels.push_back({.key = key, .number = static_cast<std::int64_t>(next_ns_), .unit = key});
    next_ns_ += kMs;
    made_.builder.Add(convert::Sample{.stack = made_.Calls(stack),
                                      .thread = made_.Runs(comm, pid, pid),
                                      .event = made_.Counts(event, "nanoseconds"),
                                      .labels = made_.builder.Add(labels),
                                      .count = 1,
                                      .period = static_cast<std::int64_t>(ns)});
    events_.emplace_back(event);
  }
  // A sample of a slow or failed call.
  void AddSlow(std::string_view probe, std::uint64_t ns, const Fields& fields,
               std::uint32_t pid = 7, std::string_view comm = "app",
               std::initializer_list<std::string_view> stack = {"main", "work"}) {
    AddSample(perfdata::LatencyEventName(probe), fields, ns, pid, comm, stack);
  }

  bundle::NotedCgroup& AddCgroup(std::string_view path, std::vector<std::uint64_t> pids = {7}) {
    bundle::NotedCgroup& cgroup = notes_.cgroups.emplace_back();
    cgroup.path = path;
    cgroup.first.time_ns = notes_.start_ns;
    cgroup.last.time_ns = notes_.end_ns;
    cgroup.pids = std::move(pids);
    return cgroup;
  }

  bundle::RecordingNotes& notes() { return notes_; }
  void HasCpus(std::uint32_t cpus) { cpus_ = cpus; }
  void HasNoNotes() { has_notes_ = false; }
  void Lose(std::uint64_t samples) { lost_samples_ = samples; }
  void Record(std::string_view event) { events_.emplace_back(event); }

  // Call it once.
  const Facts& MakeFacts(const convert::FilterOptions& filter = {}) {
    RecordedInput input{
        .notes = {}, .events = events_, .lost_samples = lost_samples_, .cpus = cpus_};
    if (has_notes_) input.notes = std::make_shared<const bundle::RecordingNotes>(notes_);
    profile_ = made_.Make();
    facts_ = diagnose::MakeFacts(profile_, {input}, filter);
    return facts_;
  }
  // Calls MakeFacts.
  Diagnosis Diagnose(const RuleSet& rules = {}) { return diagnose::Diagnose(MakeFacts(), rules); }

 private:
  // A text, or a number if there are only digits.
  convert::Label LabelOf(std::string_view field, std::string_view text) {
    const auto key = made_.builder.Add(convert::FieldLabelKey(field));
    if (const auto number = DecimalOf(text)) {
      return {.key = key, .number = static_cast<std::int64_t>(*number), .unit = key};
    }
    return {.key = key, .text = made_.builder.Add(text)};
  }

  convert::ProfileMaker made_;
  convert::Profile profile_;
  Facts facts_;
  bundle::RecordingNotes notes_;
  std::vector<std::string> events_;
  std::uint64_t next_ns_ = 2 * kNsPerSecond;
  std::uint64_t lost_samples_ = 0;
  std::uint32_t cpus_ = 0;
  bool has_notes_ = true;
};

}  // namespace perftape::diagnose
