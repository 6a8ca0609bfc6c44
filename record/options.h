// SPDX-License-Identifier: Apache-2.0
// The options of Record() (recorder.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/events/event_attrs.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/flight/flight_options.h"
#include "record/output/rotation_options.h"
#include "record/processes/child.h"
#include "record/processes/targets.h"
#include "record/scope/scope.h"
#include "record/symbols/others_files.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

// What a recording has written so far.
struct RecordProgress {
  std::uint64_t samples = 0;
  std::uint64_t lost_samples = 0;
  std::uint64_t file_bytes = 0;  // of the current file
};

// What takes the samples.
enum class Sampler : std::uint8_t {
  kPrograms,  // BPF programs
  kKernel,    // the kernel itself: only user code of own processes, but without privileges
};

enum class IncludeSelf : std::uint8_t { kNo, kYes };

struct RecordOptions {
  Sampler sampler = Sampler::kPrograms;
  Target target;  // not WholeSystem with Sampler::kKernel
  // The command and its arguments. Its process is created before the recording starts and waits. It
  // calls exec when the recording runs, and the recording ends with it. May be empty unless the
  // target is Workload.
  std::vector<std::string> command;
  SignalState command_signals = SignalState::Now();
  std::vector<EventSpec> events;      // empty: cpu-clock
  SamplingRate rate = Frequency{99};  // of events without one of their own
  std::chrono::nanoseconds off_cpu_threshold = std::chrono::milliseconds(1);
  MissingEvents missing_events = MissingEvents::kFail;
  std::vector<int> cpus;      // the CPUs to sample; empty: all that are online
  std::optional<uid_t> user;  // only tasks of this user
  ScopeOptions scope;         // only these cgroups and threads with these names
  Callchains callchains = Callchains::kFramePointers;
  // Uses kUnwindTables instead if the kernel can, and warns if it cannot.
  bool prefers_unwind_tables = false;
  // Samples have the user registers and at most so many bytes of the user stack; 0: they do not.
  std::uint32_t stack_bytes = 0;
  std::size_t unwind_bytes = kUsualUnwindBytes;  // the memory for Callchains::kUnwindTables
  IncludeSelf include_self = IncludeSelf::kNo;
  std::filesystem::path output = "perf.data";  // a stream (output_target.h) gets pipe format
  // If set, `output` is a pattern of names (name_pattern.h), and a bundle is in each file.
  std::optional<RotationOptions> rotation;
  // If set, `output` is a pattern, too, and records stay in memory until a trigger writes them.
  std::optional<FlightOptions> flight;
  std::uint64_t reserved_space = 0;  // bytes of the disk that are left to others
  bool sync = false;                 // each round is on the disk before the next begins
  // Equal samples of so long a time become one (sample_aggregator.h).
  std::optional<std::chrono::nanoseconds> aggregate;
  std::optional<double> max_cpu;  // percent of a CPU that the recorder may use (rate_governor.h)
  std::optional<int> compression_level;  // zstd level, 1 to 22; nothing: no compression
  BundleRequest bundle;                  // ignored for a pipe, except for a separate file
  // Opens the files that other users chose. Record() replaces it by one that needs no answer.
  std::shared_ptr<OthersFiles> files = std::make_shared<OthersFiles>();
  std::optional<std::chrono::nanoseconds> duration;
  std::chrono::milliseconds flush_interval{250};
  // Of each ring of samples; nothing: see ring_plan.h, and SidebandOptions for Sampler::kKernel.
  std::optional<std::size_t> ring_bytes;
  std::vector<std::string> command_line;  // of the recorder itself: the CMDLINE feature
  // Gets all messages of libbpf while the BPF programs are loaded, and the size of the rings.
  LibbpfLog libbpf_log = {};
  // Gives up the privileges that a running recording does not need. Called once, when all events
  // are attached, the command runs, and Record() has ended its own threads, and in each process
  // that opens files. An error of it ends the recording. May be empty.
  std::function<Status()> drop_privileges = {};
  // Called when the output has its name. May be empty.
  std::function<void()> on_published = {};
  // Called whenever the rings were drained, by the thread that records: it must return soon. May be
  // empty.
  std::function<void(const RecordProgress&)> on_progress = {};
};

}  // namespace perftape::record
