// SPDX-License-Identifier: Apache-2.0
// What a recording lacks, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/events/cpu_hotplug.h"
#include "record/input/record_input.h"
#include "record/losses/loss_ledger.h"
#include "record/rings/throttled_time.h"

namespace perftape::record {

// What an event lacks.
struct EventLosses {
  std::string name = {};                 // of the event
  std::vector<LossByCpu> losses = {};    // CPUs that lost samples
  std::vector<StalledCpu> stalls = {};   // CPUs that were stopped; no sample is lost
  std::vector<SilentCpu> silences = {};  // CPUs without samples for an unknown reason
  // CPUs on which the kernel throttled an event that has no LossByCpu::throttled.
  std::vector<ThrottledCpu> throttled = {};
  ChainCounts chains = {};  // that were found by unwind tables
};

struct LossSummary {
  std::uint64_t start_ns = 0;            // of sampling, CLOCK_MONOTONIC
  std::uint64_t lost_samples = 0;        // in LOST_SAMPLES records; includes damaged_messages
  std::uint64_t damaged_messages = 0;    // invalid messages from the BPF programs
  std::vector<EventLosses> events = {};  // in the order of the file
  // CPUs that were offline for a time. Times count from the start of the recording.
  std::vector<AbsentCpu> absences = {};
};

}  // namespace perftape::record
