// SPDX-License-Identifier: Apache-2.0
// perftape-record's options, and the recording that they describe.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/kernel_sampler.h"
#include "record/recorder.h"
#include "tools/common/cli/options.h"
#include "tools/common/recording/recording_options.h"
#include "tools/doctor/command_line.h"
#include "tools/record/file_values.h"
#include "tools/record/list_events.h"

namespace perftape::record_tool {

// A compression level of zstd, and whether only "-z" was given.
struct CompressionLevel {
  int value = 1;
  bool is_left_out = false;
};

// Which code the options --all-user and --all-kernel select.
enum class OnlyModes : std::uint8_t { kAsEvents, kUser, kKernel };

struct Plan : recording::RecordingPlan {
  // PlanOf computes the target, the events, the command and the level from these.
  bool all_cpus = false;
  bool wakers = false, why = false;
  std::vector<pid_t> pids, tids;
  std::optional<CompressionLevel> compression;
  std::optional<SwitchMode> switch_output;
  record::RetentionLimits keep;
  std::string exec_on_switch;
  std::optional<std::chrono::nanoseconds> flight, cooldown;
  std::optional<std::uint64_t> flight_memory;
  std::vector<record::TriggerSpec> triggers;
  // Options of perf (perf_rows.h).
  OnlyModes only_modes = OnlyModes::kAsEvents;
  bool off_cpu = false, kernel_callchains = false, no_inherit = false, no_build_ids = false;
  bool timestamp_filename = false, no_buffering = false, dry_run = false;
  std::optional<int> realtime;
  // Only checked, because there is only one.
  std::string clock, synthesis;
  std::filesystem::path json_file;
  std::optional<double> max_loss;
  record::SamplerRequest sampler = record::SamplerRequest::kAuto;
};

// What the command line asks for: a recording, or what a verb prints: the help of a verb, a list of
// events, or a diagnosis.
struct RecordRun : record::RecordOptions {
  std::string verb_help;  // of `perftape-record list --help`; empty otherwise
  std::optional<ListRequest> listed_events;
  std::optional<doctor_tool::ReportAs> diagnosis;
  std::filesystem::path json_file;  // of the summary; "-" for stdout, empty for none
  std::optional<double> max_loss;   // percent of the samples
  std::optional<int> realtime;      // the priority of SCHED_FIFO
  bool dry_run = false;             // only check the options
  record::SamplerRequest sampler = record::SamplerRequest::kAuto;
  bool no_sandbox = false;
  bool shows_progress = false;  // on the terminal
};

const cli::Command& RecordCommand();

// Checks a parsed plan and completes its RecordOptions. Fails with kInvalidArgument for usage
// errors. RecordOptions::command_line stays empty, because it is not from the options.
Result<RecordRun> PlanOf(Plan plan);

}  // namespace perftape::record_tool
