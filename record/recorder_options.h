// SPDX-License-Identifier: Apache-2.0
// The options of Record() (recorder.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/control/control_spec.h"
#include "record/input/input_options.h"
#include "record/input/latency_ledger.h"
#include "record/output/output_options.h"
#include "record/processes/child.h"

namespace perftape::record {

// What a recording has written so far.
struct RecordProgress {
  std::uint64_t samples = 0;
  std::uint64_t lost_samples = 0;
  std::uint64_t file_bytes = 0;  // of the current file
};

// When events are on (--delay), and commands that switch them (--control).
struct ControlOptions {
  std::optional<ControlSpec> channel = {};
  // If set, InputOptions::first_state is kOff.
  std::optional<EnabledRanges> delay = {};
  // Gets the answer to the command evlist, by the thread that records. May be empty.
  std::function<void(std::string_view)> print = {};

  bool is_used() const { return channel || delay; }
};

struct RecordOptions {
  InputOptions input;
  OutputOptions output;
  // If set, the output is a pattern of names, and a bundle is in each file.
  std::optional<RotationOptions> rotation;
  // If set, the output is a pattern, too, and records stay in memory until a trigger writes them.
  std::optional<FlightOptions> flight;
  ControlOptions control;
  // The command and its arguments. Its process is created before the recording starts. It waits
  // until the recording runs, and then calls exec. The recording ends with it. May be empty unless
  // the target is Workload.
  std::vector<std::string> command;
  SignalState command_signals = SignalState::Now();
  // Adds the limits and the usage of the cgroups of recorded processes to the notes
  // (cgroup_usage.h).
  bool cgroup_usage = false;
  std::optional<double> max_cpu;  // percent of a CPU that the recorder may use (rate_governor.h)
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<std::uint64_t> max_file_bytes;  // ends when the file has this size
  std::chrono::milliseconds flush_interval{250};
  // Gives up the privileges that a running recording does not need. Called once when all events are
  // attached, the command runs, and Record() has ended its own threads. Also called in each process
  // that opens files. If it returns an error, the recording ends. May be empty.
  std::function<Status()> drop_privileges = {};
  // Called when the output has its name. May be empty.
  std::function<void()> on_published = {};
  // Called after each interval with the calls of latency probes in it, in the same way as
  // on_progress. May be empty.
  std::function<void(std::span<const LatencyInterval>)> on_latency = {};
  std::optional<std::chrono::nanoseconds> latency_interval;
  // Called whenever the rings were drained, by the thread that records: it must return soon. May be
  // empty.
  std::function<void(const RecordProgress&)> on_progress = {};
};

}  // namespace perftape::record
