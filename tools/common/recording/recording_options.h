// SPDX-License-Identifier: Apache-2.0
// The options of all tools that record: the events, whose samples, how often, and how call chains
// are found. perftape-serve accepts the same words in the file of --config.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/recorder_options.h"
#include "tools/common/cli/options.h"
#include "tools/common/cli/values.h"
#include "tools/common/recording/recording_values.h"

namespace perftape::recording {

// The fields that the rows below set. The struct of a tool with these rows derives from it.
struct RecordingPlan : cli::BaseOptions {
  record::RecordOptions record;
  // FinishRecordingOptions applies these to `record`; empty: what is there stays.
  std::optional<record::SamplingRate> rate;
  std::optional<std::chrono::nanoseconds> off_cpu_threshold;
  std::optional<CallGraph> call_graph;
};

inline constexpr cli::Option kEventRows[] = {
    {.name = "event",
     .letter = 'e',
     .argument = "EVENT",
     .help = "record these events: {choices}, a hardware event, a tracepoint such as "
             "sched:sched_switch or a glob, a probe such as uprobe:libc:malloc; EVENT/freq=HZ/, "
             "EVENT/period=N/, EVENT:u and EVENT:k work as in perf; 'perftape-record list' prints "
             "all events; default cpu-clock",
     .completion = cli::Completion::kEvent,
     .into = cli::StoreOffered<&ParseEventList, &EventOffers, &RecordingPlan::record,
                               &record::RecordOptions::input, &record::InputOptions::events>,
     .verdict = cli::Verdict::kDone},
    {.name = "off-cpu-threshold",
     .argument = "TIME",
     .help = "with -e offcpu, add up the waits of a thread that are shorter than TIME, instead of "
             "recording each; TIME is in ms or has a unit (500us); 0 records each wait (default "
             "1ms)",
     .is_rare = true,
     .into = cli::StoreAs<&ParseThreshold, &RecordingPlan::off_cpu_threshold>},
    {.name = "allow-missing-events",
     .help = "skip events that this machine does not have, with a warning",
     .is_rare = true,
     .into = cli::SetTo<record::MissingEvents::kSkip, &RecordingPlan::record,
                        &record::RecordOptions::input, &record::InputOptions::missing_events>},
};

inline constexpr cli::Option kScopeRows[] = {
    {.name = "cpu",
     .letter = 'C',
     .argument = "CPUS",
     .help = "record only on these CPUs: 0-3,8",
     .into = cli::StoreLast<&cli::ParseCpuList, &RecordingPlan::record,
                            &record::RecordOptions::input, &record::InputOptions::cpus>,
     .verdict = cli::Verdict::kDone},
    {.name = "uid",
     .letter = 'u',
     .argument = "USER",
     .help = "record only tasks of this user (name or number)",
     .completion = cli::Completion::kUser,
     .into = cli::StoreAs<&cli::ParseUser, &RecordingPlan::record, &record::RecordOptions::input,
                          &record::InputOptions::user>,
     .verdict = cli::Verdict::kDone},
    {.name = "comm",
     .argument = "GLOB",
     .help =
         "record only threads whose name matches GLOB: * ? [a-z]; several are separated by commas",
     .into = cli::StoreAs<&ParseNames, &RecordingPlan::record, &record::RecordOptions::input,
                          &record::InputOptions::scope, &record::ScopeOptions::comms>},
    {.name = "cgroup",
     .letter = 'G',
     .argument = "PATH|ID",
     .help = "record only tasks in this cgroup or below it; several are separated by commas",
     .into = cli::StoreAs<&ParseNames, &RecordingPlan::record, &record::RecordOptions::input,
                          &record::InputOptions::scope, &record::ScopeOptions::cgroups>,
     .verdict = cli::Verdict::kDone,
     .reason = "a path or an id; it needs no -a, and selects the tasks of all events"},
    {.name = "container",
     .argument = "ID",
     .help = "record only this container of docker, podman, containerd, CRI-O or Kubernetes; the "
             "beginning of its id is enough",
     .into = cli::StoreAs<&ParseNames, &RecordingPlan::record, &record::RecordOptions::input,
                          &record::InputOptions::scope, &record::ScopeOptions::containers>},
    {.name = "pod",
     .argument = "NAMESPACE/NAME",
     .help =
         "record only pods of Kubernetes whose namespace and name match: * ? [a-z]; several are "
         "separated by commas",
     .into = cli::StoreAs<&ParseNames, &RecordingPlan::record, &record::RecordOptions::input,
                          &record::InputOptions::scope, &record::ScopeOptions::pods>},
};

inline constexpr std::string_view kFrequencyHelp =
    "record HZ samples per second on each CPU; max is the highest rate that the kernel and this "
    "machine allow";

// What differs between tools: the default rate as a phrase of help, "(default 99)", and the methods
// of --call-graph that the tool can use.
template <const std::string_view& kDefaultRate, std::vector<cli::Offer> (*kOffers)()>
inline constexpr cli::Option kSamplingRows[] = {
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = cli::kWords<kFrequencyHelp, kDefaultRate>.text(),
     .into = cli::StoreAs<&ParseFrequency, &RecordingPlan::rate>,
     .verdict = cli::Verdict::kDone,
     .reason = "default 99"},
    {.name = "call-graph",
     .argument = "METHOD",
     .help = "select how call chains are found: {choices}; default eh, but fp before Linux 5.15 "
             "and without privileges",
     .into = cli::StoreOffered<&ParseCallGraph, kOffers, &RecordingPlan::call_graph>,
     .verdict = cli::Verdict::kDone,
     .reason = "eh, fp and dwarf"},
    {.name = "max-cpu",
     .argument = "PERCENT",
     .help = "lower the rate while the recorder itself uses more than PERCENT of a CPU",
     .is_rare = true,
     .into = cli::StoreAs<&ParseCpuLimit, &RecordingPlan::record, &record::RecordOptions::max_cpu>},
};

// Completes `plan.record` after parsing: applies the rate, the threshold and the method, and
// records limits of cgroups with latency probes. Fails with kInvalidArgument for a rate above the
// limit of this kernel.
Status FinishRecordingOptions(RecordingPlan& plan);

}  // namespace perftape::recording
