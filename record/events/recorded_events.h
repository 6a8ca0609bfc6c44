// SPDX-License-Identifier: Apache-2.0
// The events of a recording, open on every CPU, and the ids by which records name them. BPF
// programs take the samples of events of all processes. Events of single threads need no
// privileges: the kernel itself writes their samples, of user code only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "record/events/file_events.h"
#include "record/processes/targets.h"
#include "record/rings/cpu_events.h"

namespace perftape::record {

// Owns the descriptors of the events. Not thread-safe.
class RecordedEvents {
 public:
  // A sampling event. A tracepoint or probe is opened on one CPU only: its BPF program runs on all.
  // An off-CPU event is not opened, and has invented ids.
  struct Sampling {
    std::vector<CpuEvent> on_cpus = {};
    std::vector<CpuEvent> of_other_threads = {};  // on the same CPUs; records have the same ids
    bool is_on = true;
  };

  // Opens the sampling events of `plan` on `cpus`, or on all online CPUs if it is empty. Opens the
  // sideband event on all online CPUs, because a process may map and fork on any of them. Reserves
  // ids for CPUs that are offline. Returns the errors of OpenOnCpus, which name the event.
  static Result<RecordedEvents> Open(std::vector<PlannedEvent> plan, std::span<const int> cpus,
                                     const SidebandContent& content);
  // Opens the sampling events of `plan`, whose attributes are AttrForThreads, for `threads` on
  // `cpus`, or on all CPUs if it is empty, online or not. Opens the sideband event on all CPUs. All
  // of them write into rings that OpenRings opens. Threads that have ended are left out. Fails with
  // kNotFound if all have, otherwise as OpenForThread.
  static Result<RecordedEvents> OpenForThreads(std::vector<PlannedEvent> plan,
                                               std::span<const int> cpus,
                                               const SidebandContent& content,
                                               const RecordedThreads& threads);
  // Opens the events that own the rings, again if they are already open. They belong to this
  // process and write no records. The ring of an event of another process would end with that
  // process.
  Status OpenRings(std::size_t ring_bytes);

  // Redirects the records of all events to the rings, which must be mapped.
  Status RedirectToRings() const;
  // Start and stop sampling. Events that are enabled by exec start with the exec of the command.
  // EnableSampling leaves out the events that are switched off.
  Status EnableSampling() const;
  Status DisableSampling() const;
  // Switch a sampling event off and on. They disable and enable it, if it is open on each CPU.
  Status SwitchOff(std::uint32_t event);
  Status SwitchOn(std::uint32_t event);
  bool IsOn(std::uint32_t event) const { return sampling_[event].is_on; }
  // Returns by CPU how many records did not fit into a ring. Nothing if the events are not those of
  // threads, or before Linux 6.0.
  std::map<int, std::uint64_t> LostRecords() const;

  // Opens the sideband event of a CPU that came online. Its records keep the id that the file has.
  // The caller passes it to KeepSideband when its ring is mapped; likewise with a sampling event.
  Result<CpuEvent> ReopenSideband(int cpu);
  Result<CpuEvent> ReopenSampling(std::uint32_t event, int cpu);
  // Replaces the event of the same CPU.
  void KeepSideband(CpuEvent opened);
  void KeepSampling(std::uint32_t event, CpuEvent opened);
  // Closes the tracepoints. Before Linux 5.15, their programs are called until then.
  void CloseTracepoints();

  // Returns whether the sampling events were requested on this CPU.
  bool IsSampled(int cpu) const;
  // Whether the event is opened on each CPU.
  bool IsOnEachCpu(std::uint32_t event) const { return IsPerCpu(in_file_.sampling()[event].cause); }
  // Whether the event is opened on this CPU, if the sampling events were requested on it. An event
  // that comes back with its CPU is in no group.
  bool IsCountedOn(std::uint32_t event, int cpu) const;
  // The first event that is opened on each CPU; nothing if all are tracepoints.
  std::optional<std::uint32_t> first_per_cpu() const;
  // Returns how long this event has been enabled on the CPU. Fails with kNotFound if there is none,
  // or if it is off.
  Result<std::uint64_t> SamplingEnabledNs(int cpu) const;

  const FileEvents& in_file() const { return in_file_; }
  // The index is the number of the event.
  std::span<const Sampling> sampling() const { return sampling_; }
  std::span<const CpuEvent> sideband() const { return sideband_; }
  // The events whose rings get all records.
  std::span<const CpuEvent> ring_owners() const {
    return is_of_threads_ ? ring_owners_ : sideband_;
  }
  // Whether the events are of single threads. There is no kernel code in the recording then.
  bool is_of_threads() const { return is_of_threads_; }
  // The CPUs of this machine, online or not; empty if the kernel does not list them.
  std::span<const int> present_cpus() const { return present_cpus_; }

 private:
  RecordedEvents(std::vector<PlannedEvent> plan, const SidebandContent& content);
  Status OpenSampling(std::span<const int> cpus);
  // The events of one attribute: those of the first thread give the ids in the file.
  struct OfThreads {
    std::vector<CpuEvent> first, others;
  };
  Result<OfThreads> OpenAttr(std::uint32_t event, perfdata::EventAttr attr,
                             std::span<const pid_t> tids, std::span<const int> cpus);

  FileEvents in_file_;
  std::vector<Sampling> sampling_;
  std::vector<CpuEvent> sideband_;
  bool is_of_threads_ = false, counts_lost_ = false;
  std::vector<CpuEvent> sideband_of_other_threads_, ring_owners_;  // both only if it is
  std::vector<int> present_cpus_;
};

}  // namespace perftape::record
