// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/slow_calls.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "convert/diagnose/objects.h"
#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "convert/timeline/stack_facts.h"
#include "formats/perfdata/latency_probes.h"

namespace perftape::diagnose {
namespace {

using convert::Profile;
using convert::Sample;

constexpr std::string_view kFutexProbe = "futex";

std::uint64_t Unsigned(std::int64_t value) {
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::int64_t TimeOf(const Profile& profile, const Sample& sample) {
  const convert::Label* const time =
      convert::FindLabel(profile, sample.labels, convert::kTimestampLabel);
  return time == nullptr ? 0 : time->number;
}

// Whether the sample is the sum of the fast calls of a process.
bool IsSumOfFastCalls(const Profile& profile, const Sample& sample) {
  if (sample.stack == convert::StackId{}) return false;
  const convert::Stack& stack = profile[sample.stack];
  const convert::Location& leaf = profile[stack.leaf];
  return stack.caller == convert::StackId{} && leaf.lines.size() == 1 &&
         profile.text(profile[leaf.lines.front().function].name) == perfdata::kFastCalls;
}

Process ProcessOf(const Profile& profile, const Sample& sample, const Facts& facts) {
  const convert::SampleThread thread = convert::ThreadOf(profile, sample);
  Process process{.pid = thread.pid.value_or(0), .comm = std::string(thread.comm)};
  const convert::Label* const cgroup =
      convert::FindLabel(profile, sample.labels, convert::kCgroupLabel);
  process.cgroup =
      cgroup != nullptr ? profile.text(cgroup->text) : CgroupOf(facts.cgroups, process.pid);
  return process;
}

// Reads the samples of one profile.
class SampleFacts {
 public:
  SampleFacts(const Profile& profile, Facts& facts)
      : profile_(profile), facts_(facts), stacks_(profile) {}

  void Add(const Sample& sample) {
    const std::string_view event = profile_.text(profile_[sample.event].name);
    if (event == kOomEvent) {
      AddOomKill(sample);
    } else if (event == kRetransmissionEvent) {
      CountPeer(sample, &Peer::retransmissions);
    } else if (event == kResetReceivedEvent) {
      CountPeer(sample, &Peer::resets_received);
    } else if (event == kResetSentEvent) {
      CountPeer(sample, &Peer::resets_sent);
    } else if (const std::string probe = perfdata::LatencyProbeName(event); !probe.empty()) {
      AddCall(sample, probe);
    }
  }

  void Finish() && {
    std::ranges::stable_sort(facts_.slow_calls, std::greater<>(), [](const SlowCall& call) {
      return call.ns / std::max<std::uint64_t>(call.count, 1);
    });
    for (Peer& peer : peers_ | std::views::values) facts_.peers.push_back(std::move(peer));
    std::ranges::stable_sort(facts_.peers, std::greater<>(), [](const Peer& peer) {
      return peer.retransmissions + peer.resets_received + peer.resets_sent;
    });
  }

 private:
  void AddCall(const Sample& sample, const std::string& probe) {
    if (IsSumOfFastCalls(profile_, sample)) return;
    SlowCall call{.probe = probe,
                  .process = ProcessOf(profile_, sample, facts_),
                  .ns = Unsigned(sample.period),
                  .end_ns = TimeOf(profile_, sample),
                  .count = std::max<std::uint64_t>(Unsigned(sample.count), 1),
                  .error = FieldText(profile_, sample.labels, perfdata::kErrorField.name),
                  .object = ObjectOf(profile_, sample.labels),
                  .stack = sample.stack};
    call.waits_for_lock = probe == kFutexProbe && stacks_.WaitsForLock(sample.stack);
    facts_.slow_calls.push_back(std::move(call));
  }

  // The sample is of the thread that needed memory; its fields say which process ends.
  void AddOomKill(const Sample& sample) {
    OomKill kill{.time_ns = TimeOf(profile_, sample)};
    const convert::Label* const pid =
        convert::FindLabel(profile_, sample.labels, convert::FieldLabelKey("pid"));
    if (pid != nullptr) kill.process.pid = static_cast<std::uint32_t>(pid->number);
    kill.process.comm = FieldText(profile_, sample.labels, "comm");  // since Linux 6.8
    kill.process.cgroup = CgroupOf(facts_.cgroups, kill.process.pid);
    facts_.oom_kills.push_back(std::move(kill));
  }

  void CountPeer(const Sample& sample, std::uint64_t Peer::*member) {
    std::string address = PeerOf(profile_, sample.labels);
    Peer& peer = peers_[address];
    peer.address = std::move(address);
    peer.*member += Unsigned(sample.count);
  }

  const Profile& profile_;
  Facts& facts_;
  timeline::StackFacts stacks_;
  std::map<std::string, Peer> peers_;
};

}  // namespace

void AddSamples(const Profile& profile, Facts& facts) {
  SampleFacts samples(profile, facts);
  for (const Sample& sample : profile.samples()) samples.Add(sample);
  std::move(samples).Finish();
}

}  // namespace perftape::diagnose
