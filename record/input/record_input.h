// SPDX-License-Identifier: Apache-2.0
// The input of a recording: records in time order, and counters. EventInput gets them from the
// kernel; unit tests make them.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/bpf/unwind_maps.h"
#include "record/events/cpu_hotplug.h"
#include "record/events/file_events.h"
#include "record/input/incoming_records.h"
#include "record/input/latency_ledger.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/processes/targets.h"

namespace perftape::record {

// The call chains of an event that were found by unwind tables.
struct ChainCounts {
  ChainEnds ends = {};        // how they ended; all zero for other methods
  std::uint64_t derived = 0;  // of these, with a frame whose rule was derived from instructions
};

// Not thread-safe.
class RecordInput {
 public:
  virtual ~RecordInput() = default;

  virtual const FileEvents& events() const = 0;
  // The processes (thread-group ids) whose process events the file needs at the start; nothing for
  // the whole system.
  virtual const std::optional<std::vector<std::uint32_t>>& processes() const = 0;
  // Returns the records that describe what was already running (initial_state.h). `programs` are
  // the BPF programs of the machine. Adds to `warnings`.
  virtual Result<std::vector<std::byte>> InitialState(std::span<const BpfProgram> programs,
                                                      std::vector<std::string>& warnings) const = 0;

  // Start and stop sampling. Stop returns the first error of a thread that drains rings.
  virtual Status Start() = 0;
  virtual Status Stop() = 0;
  // Switch the samples of an event off and on. After SwitchOff, it has no sample with a later time.
  // Process events are recorded all the time. All waits and wakeups are switched together. Calls
  // that change nothing have no effect.
  virtual Status SwitchOff(std::uint32_t event) = 0;
  virtual Status SwitchOn(std::uint32_t event) = 0;
  virtual bool IsOn(std::uint32_t event) const = 0;
  // Reads the current content of the rings into records().
  virtual Status Drain() = 0;
  virtual IncomingRecords& records() = 0;
  virtual const IncomingRecords& records() const = 0;
  // DrainLatency reads the histograms of latency probes, if there are any. SumUpFastCalls adds
  // samples at `time_ns` to records(), with the sums of the calls that did not become samples.
  virtual Status DrainLatency() = 0;
  virtual void SumUpFastCalls(std::uint64_t time_ns) = 0;
  // Returns the calls of each probe that were read since the last call.
  virtual std::vector<LatencyInterval> NextLatencyInterval() = 0;
  // Returns the containers and pods among the recorded cgroups. Makes no system call.
  virtual std::vector<bundle::NotedContainer> Containers() const = 0;
  // Returns the contexts that recorded processes publish, as far as they were found.
  virtual std::vector<bundle::NotedProcess> ProcessContexts() const = 0;
  // Opens the events of CPUs that came back online, if a check is due.
  virtual Status ReopenOnReturnedCpus(std::uint64_t now_ns) = 0;
  // From now on, only one in `divisor` overflows of clocks and counters becomes a sample, with the
  // sum of their periods. Other events are not affected.
  virtual void SampleOneIn(std::uint64_t divisor) = 0;
  // Returns whether every named process and thread has ended.
  virtual bool HaveTargetsEnded() const = 0;

  // Whether every task is sampled, or only some.
  virtual SampledTasks tasks() const = 0;
  // Returns the counters of a sampling event on each possible CPU; the index is the CPU. Makes no
  // system call, and neither do the next five.
  virtual std::vector<wire_cpu> Counters(std::uint32_t event) const = 0;
  virtual ChainCounts ChainsOf(std::uint32_t event) const = 0;
  // The CPUs that are being sampled now.
  virtual std::vector<std::uint32_t> SampledCpus() const = 0;
  // CPUs that were offline for a time.
  virtual std::vector<AbsentCpu> Absences() const = 0;
  // Returns a sentence for each cgroup of the scope that was not recorded all the time since
  // `start_ns`.
  virtual std::vector<std::string> CgroupGaps(std::uint64_t start_ns) const = 0;
  // Returns the counts of latency probes until the last DrainLatency.
  virtual LatencySummary Latency() const = 0;
  // Hits of tracepoints that the kernel skipped, of any task. Call it after Stop.
  virtual std::uint64_t SkippedHits() const = 0;

  // Descriptors for poll(2), which belong to this object; -1 if there are none.
  virtual int sample_poll_fd() const = 0;
  virtual int sideband_poll_fd() const = 0;

 protected:
  RecordInput() = default;
};

}  // namespace perftape::record
