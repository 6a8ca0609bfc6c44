// SPDX-License-Identifier: Apache-2.0
// The input of a recording from the kernel: its targets, the open events, the source of samples and
// all rings.
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "formats/perfdata/writer.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/sample_source.h"
#include "record/events/cpu_hotplug.h"
#include "record/events/recorded_events.h"
#include "record/input/context_finder.h"
#include "record/input/incoming_records.h"
#include "record/input/input_options.h"
#include "record/input/latency_ledger.h"
#include "record/input/record_input.h"
#include "record/processes/proc_snapshot.h"
#include "record/processes/targets.h"
#include "record/rings/background_drain.h"
#include "record/rings/sideband.h"
#include "record/scope/cgroup_watch.h"
#include "record/scope/cgroups.h"
#include "record/scope/recorded_containers.h"
#include "record/scope/scope.h"
#include "record/unwind/late_unwinder.h"
#include "record/unwind/unwind_loader.h"

namespace perftape::record {

// Not thread-safe.
class EventInput : public RecordInput {
 public:
  // Opens everything that may fail because of missing privileges or memory. From then on no fork,
  // exec or mapping is missed, because a thread empties the sideband rings until Stop. No sample is
  // recorded before Start. `command` is the process of the command, if there is one. `files` opens
  // the binaries of other users, and must outlive this object. Adds to `warnings`.
  static Result<std::unique_ptr<EventInput>> Open(InputOptions options,
                                                  std::optional<pid_t> command, OthersFiles& files,
                                                  std::vector<std::string>& warnings);

  const FileEvents& events() const override { return events_.in_file(); }
  const std::optional<std::vector<std::uint32_t>>& processes() const override {
    return targets_.processes();
  }
  Result<std::vector<std::byte>> InitialState(std::span<const BpfProgram> programs,
                                              std::vector<std::string>& warnings) const override;
  Status Start() override;
  Status Stop() override;
  Status SwitchOff(std::uint32_t event) override;
  Status SwitchOn(std::uint32_t event) override;
  bool IsOn(std::uint32_t event) const override { return events_.IsOn(event); }
  Status Drain() override;
  IncomingRecords& records() override { return records_; }
  const IncomingRecords& records() const override { return records_; }
  Status ReopenOnReturnedCpus(std::uint64_t now_ns) override;
  void SampleOneIn(std::uint64_t divisor) override;
  bool HaveTargetsEnded() const override { return targets_.Gone(); }

  SampledTasks tasks() const override { return tasks_; }
  std::vector<wire_cpu> Counters(std::uint32_t event) const override {
    return samples_->Counters(event);
  }
  ChainCounts ChainsOf(std::uint32_t event) const override;
  std::vector<std::uint32_t> SampledCpus() const override;
  std::vector<AbsentCpu> Absences() const override;
  std::vector<std::string> CgroupGaps(std::uint64_t start_ns) const override;
  Status DrainLatency() override;
  void SumUpFastCalls(std::uint64_t time_ns) override;
  std::vector<LatencyInterval> NextLatencyInterval() override { return latency_.NextInterval(); }
  LatencySummary Latency() const override;
  std::vector<bundle::NotedContainer> Containers() const override;
  std::vector<bundle::NotedProcess> ProcessContexts() const override { return contexts_->Noted(); }
  std::uint64_t SkippedHits() const override { return samples_->SkippedHits(); }

  int sample_poll_fd() const override { return samples_->poll_fd(); }
  int sideband_poll_fd() const override { return sideband_.poll_fd(); }

 private:
  // Everything that is opened before the first record is read.
  struct Opened {
    Targets targets;
    Scope scope;
    RecordedEvents events;
    std::unique_ptr<SampleSource> samples;
    Sideband sideband;
    SampledTasks tasks;
  };
  static Result<Opened> OpenWithPrograms(const InputOptions& options, Targets targets,
                                         std::vector<std::string>& warnings);
  static Result<Opened> OpenWithoutPrograms(const InputOptions& options, Targets targets,
                                            std::vector<std::string>& warnings);
  EventInput(Opened opened, SnapshotContent content, std::uint64_t user_limit);
  // Moves the records of the sideband rings to drained_.
  Status DrainSideband();
  void AddDrained();
  void CountUnreportedLosses();
  void NameCgroups(std::span<const LatencyCounts> counted);
  void AdaptToNamespaces(std::vector<std::string>& warnings);
  Status StartUnwinding(const InputOptions& options, OthersFiles& files);
  void AddFromKernel(const perfdata::RecordView& view);
  void WatchCgroups();
  void NoteName(const perfdata::RecordView& view);
  void NoteContainer(Bytes record);
  void NoteContainers(NameSource* names);
  void FindContexts(const InputOptions& options, OthersFiles& files);
  void ExcludeCpus(std::span<const int> recorded);
  std::vector<std::uint32_t> SwitchedWith(std::uint32_t event) const;
  void EndThrottling(std::uint32_t event);
  void WatchCpus();
  Status ReopenOn(int cpu);

  Targets targets_;
  Scope scope_;
  RecordedEvents events_;
  SnapshotContent content_;  // of the initial state
  std::unique_ptr<SampleSource> samples_;
  SampledTasks tasks_;                       // of samples_
  mutable std::mutex sideband_mutex_;        // of the three below
  std::optional<CgroupWatch> cgroup_watch_;  // if cgroups are selected
  Sideband sideband_;
  DrainedRecords drained_;
  IncomingRecords records_;
  std::optional<CgroupPaths> cgroup_paths_;
  std::optional<RecordedContainers> containers_;   // if cgroups are recorded
  std::optional<ContextFinder> contexts_;          // from Open on
  std::optional<std::uint32_t> excluded_process_;  // whose samples by the kernel are left out
  std::vector<std::byte> rewritten_;               // scratch
  LatencyLedger latency_;
  std::map<std::uint64_t, std::string> cgroup_names_;  // of latency_, by id
  std::optional<CpuHotplug> hotplug_;
  KnownBinaries binaries_;
  LoadTimes load_times_;
  std::optional<LateUnwinder> late_unwinder_;
  std::unique_ptr<UnwindLoader> unwind_loader_;  // writes into the maps of samples_
  // Uses the sideband, so it is destroyed first.
  std::optional<BackgroundDrain> background_drain_;
};

}  // namespace perftape::record
