// SPDX-License-Identifier: Apache-2.0
// The input of a recording: its targets, the open events, the source of samples and all rings.
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstdint>
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
#include "record/input/incoming_records.h"
#include "record/input/input_options.h"
#include "record/processes/targets.h"
#include "record/rings/background_drain.h"
#include "record/rings/drained_records.h"
#include "record/rings/sideband.h"
#include "record/scope/cgroup_paths.h"
#include "record/scope/scope.h"
#include "record/unwind/late_unwinder.h"
#include "record/unwind/unwind_loader.h"

namespace perftape::record {

// Not thread-safe.
class EventInput {
 public:
  // Opens everything that may fail because of missing privileges or memory. From then on no fork,
  // exec or mapping is missed: until Stop a thread empties the sideband rings. No sample is
  // recorded before Start. `command` is the process of the command, if there is one. `files`
  // opens the binaries of others, and must outlive this object. Adds to `warnings`.
  static Result<std::unique_ptr<EventInput>> Open(InputOptions options,
                                                  std::optional<pid_t> command, OthersFiles& files,
                                                  std::vector<std::string>& warnings);

  // Starts and stops sampling. Stop returns the first error of the thread that empties the sideband
  // rings.
  Status Start();
  Status Stop();

  // Reads the current content of the rings.
  Status Drain();
  // Opens the events of CPUs that came back online, if a check is due.
  Status ReopenOnReturnedCpus(std::uint64_t now_ns);
  // Adds a record of the recorder itself.
  void AddOwn(std::uint64_t time_ns, Bytes record) { records_.AddOwn(time_ns, record); }
  // Returns a limit for Release, so that threads that have just ended keep their samples before
  // their EXIT: `limit_ns`, or a little less (TimeMerge::BeforeLastExits).
  std::uint64_t BeforeLastExits(std::uint64_t limit_ns) const {
    return records_.BeforeLastExits(limit_ns);
  }
  // Passes the records that were read, up to and including `limit_ns`, to `sink`, oldest first.
  template <perfdata::RecordSink Sink>
  Status Release(std::uint64_t limit_ns, Sink& sink) {
    return records_.Release(limit_ns, sink);
  }

  const Targets& targets() const { return targets_; }
  const Scope& scope() const { return scope_; }
  const RecordedEvents& events() const { return events_; }
  // Returns the counters of a sampling event on each possible CPU; the index is the CPU.
  std::vector<wire_cpu> Counters(std::uint32_t event) const { return samples_->Counters(event); }
  // How the call chains of an event ended; all zero unless they are found by unwind tables.
  ChainEnds EndsOf(std::uint32_t event) const;
  // Of these, those with a frame whose rule was derived from instructions.
  std::uint64_t DerivedChainsOf(std::uint32_t event) const;
  // Hits of tracepoints that the kernel skipped, of any task. Call it after Stop.
  std::uint64_t skipped_hits() const { return samples_->SkippedHits(); }
  // From now on, only one in `divisor` overflows of clocks and counters is a sample, with the sum
  // of their periods. Other events are not affected.
  void SampleOneIn(std::uint64_t divisor);
  // The CPUs that are being sampled now.
  std::vector<std::uint32_t> SampledCpus() const;
  // CPUs that were offline for a time.
  std::vector<AbsentCpu> absences() const;
  // How long each event was throttled, by EventIds.
  const ThrottledTime& throttled() const { return records_.throttled(); }
  // The number of damaged messages and records.
  std::uint64_t damaged() const { return records_.damaged(); }

  // Descriptors for poll(2), which belong to this object.
  int sample_poll_fd() const { return samples_->poll_fd(); }
  int sideband_poll_fd() const { return sideband_.poll_fd(); }

 private:
  // What is open before the first record is read.
  struct Opened {
    Targets targets;
    Scope scope;
    RecordedEvents events;
    std::unique_ptr<SampleSource> samples;
    Sideband sideband;
  };
  static Result<Opened> OpenWithPrograms(const InputOptions& options, Targets targets,
                                         std::vector<std::string>& warnings);
  static Result<Opened> OpenForThreads(const InputOptions& options, Targets targets,
                                       std::vector<std::string>& warnings);
  EventInput(Opened opened, std::uint64_t user_limit);
  // Moves the records of the sideband rings to drained_.
  Status DrainSideband();
  void AddDrained();
  void CountUnreportedLosses();
  void AdaptToNamespaces(std::vector<std::string>& warnings);
  Status StartUnwinding(const InputOptions& options, OthersFiles& files);
  void AddFromKernel(const perfdata::RecordView& view);
  void ExcludeCpus(std::span<const int> recorded);
  void WatchCpus();
  Status ReopenOn(int cpu);

  Targets targets_;
  Scope scope_;
  RecordedEvents events_;
  std::unique_ptr<SampleSource> samples_;
  std::mutex sideband_mutex_;  // of the two below
  Sideband sideband_;
  DrainedRecords drained_;
  IncomingRecords records_;
  std::optional<CgroupPaths> cgroup_paths_;
  std::vector<std::byte> rewritten_;  // scratch
  std::optional<CpuHotplug> hotplug_;
  KnownBinaries binaries_;
  std::optional<LateUnwinder> late_unwinder_;
  std::unique_ptr<UnwindLoader> unwind_loader_;  // writes into the maps of samples_
  // Uses the sideband, so it is destroyed first.
  std::optional<BackgroundDrain> background_drain_;
};

}  // namespace perftape::record
