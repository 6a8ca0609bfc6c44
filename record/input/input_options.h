// SPDX-License-Identifier: Apache-2.0
// The options of EventInput (event_input.h): what is recorded, and how it is sampled.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/bpf/bpf_session.h"
#include "record/events/event_attrs.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/processes/targets.h"
#include "record/scope/name_source.h"
#include "record/scope/scope.h"

namespace perftape::record {

enum class IncludeSelf : std::uint8_t { kNo, kYes };

// Whether events sample from the start, or when they are switched on.
enum class FirstState : std::uint8_t { kOn, kOff };

struct InputOptions {
  Sampler sampler = Sampler::kPrograms;
  Target target;                      // not WholeSystem with Sampler::kKernelForUser
  std::vector<EventSpec> events;      // empty: cpu-clock
  SamplingRate rate = Frequency{99};  // of events without one of their own
  std::chrono::nanoseconds off_cpu_threshold = std::chrono::milliseconds(1);
  std::size_t latency_histograms = kUsualLatencyHistograms;   // BpfOptions
  std::size_t latency_in_progress = kUsualLatencyInProgress;  // the same
  MissingEvents missing_events = MissingEvents::kFail;
  std::vector<int> cpus;      // the CPUs to sample; empty: all that are online
  std::optional<uid_t> user;  // only tasks of this user
  ScopeOptions scope;         // only these cgroups and threads with these names
  Callchains callchains = Callchains::kFramePointers;
  // Uses kUnwindTables instead if the kernel can, and warns if it cannot.
  bool prefers_unwind_tables = false;
  // If not 0, samples have the user registers and at most this many bytes of the user stack.
  std::uint32_t stack_bytes = 0;
  bool data_mappings = false;  // also those that are not executable; always so with `stack_bytes`
  bool bpf_events = true;      // which BPF programs there are, and are loaded and unloaded
  std::size_t unwind_bytes = kUsualUnwindBytes;  // the memory for Callchains::kUnwindTables
  IncludeSelf include_self = IncludeSelf::kNo;
  FirstState first_state = FirstState::kOn;  // of all events
  // The size of each ring of samples; nothing: see ring_plan.h, and SidebandOptions if the kernel
  // is the sampler.
  std::optional<std::size_t> ring_bytes;
  // Gives names of containers and pods that are in no file. Must outlive the recording. May be
  // null.
  NameSource* names = nullptr;
  // Gets all messages of libbpf while the BPF programs are loaded, and the size of the rings.
  LibbpfLog libbpf_log = {};
};

}  // namespace perftape::record
