// SPDX-License-Identifier: Apache-2.0
// The events of a recording, open on every CPU, and the ids by which records name them. BPF
// programs take the samples, or the kernel itself writes them, of all processes or of single
// threads.
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
#include "record/bpf/sample_source.h"
#include "record/events/file_events.h"
#include "record/processes/targets.h"
#include "record/rings/cpu_events.h"

namespace perftape::record {

// Owns the descriptors of the events. Not thread-safe.
class RecordedEvents {
 public:
  // A sampling event. A tracepoint or probe with a BPF program is opened on one CPU only: the
  // program runs on all.
  // An off-CPU event is not opened, and has invented ids.
  struct Sampling {
    std::vector<CpuEvent> on_cpus = {};
    std::vector<CpuEvent> of_other_threads = {};  // on the same CPUs; records have the same ids
    bool is_on = true;
  };

  // Opens the sampling events of `plan` on `cpus`, or on all online CPUs if it is empty. Opens the
  // sideband event on all online CPUs, because a process may map and fork on any of them. Reserves
  // ids for CPUs that are offline. If `sampler` is the kernel, all of them write into rings that
  // OpenRings opens. Returns the errors of OpenOnCpus, which name the event.
  static Result<RecordedEvents> Open(std::vector<PlannedEvent> plan, std::span<const int> cpus,
                                     const SidebandContent& content, Sampler sampler);
  // Opens the sampling events of `plan`, whose attributes are AttrForThreads, for `threads` on
  // `cpus`, or on all CPUs if it is empty, online or not. Opens the sideband event on all CPUs. All
  // of them write into rings that OpenRings opens: `sampler` is the kernel. Threads that have ended
  // are left out. Fails with kNotFound if all have, otherwise as OpenForThread.
  static Result<RecordedEvents> OpenForThreads(std::vector<PlannedEvent> plan,
                                               std::span<const int> cpus,
                                               const SidebandContent& content, Sampler sampler,
                                               const RecordedThreads& threads);
  // Opens the events that own the rings of samples of the kernel, again if they are already open.
  // They belong to this process and write no records. The ring of an event of another process would
  // end with that process, and that of an event of a CPU with the CPU.
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
  // Returns by CPU how many records did not fit into a ring. Nothing if programs take the samples,
  // or before Linux 6.0.
  std::map<int, std::uint64_t> LostRecords() const;

  // Opens the sideband event of a CPU that came online. Its records keep the id that the file has.
  // The caller passes it to KeepSideband when its ring is mapped, or its records are redirected;
  // likewise with a sampling event.
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
  bool IsOnEachCpu(std::uint32_t event) const {
    return IsKernel(sampler_) || IsPerCpu(in_file_.sampling()[event].cause);
  }
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
    return IsKernel(sampler_) ? ring_owners_ : sideband_;
  }
  Sampler sampler() const { return sampler_; }
  // The CPUs of this machine, online or not; empty if the kernel does not list them.
  std::span<const int> present_cpus() const { return present_cpus_; }

 private:
  RecordedEvents(std::vector<PlannedEvent> plan, const SidebandContent& content, Sampler sampler);
  // Returns the attributes with which the kernel opens those of the file.
  perfdata::EventAttr Opened(const perfdata::EventAttr& attr) const;
  perfdata::EventAttr OpenedSideband() const;
  // `cpus` is not empty. The leader of its group is open.
  Result<std::vector<CpuEvent>> OpenEvent(std::uint32_t number, std::span<const int> cpus) const;
  Status OpenSampling(std::span<const int> cpus);
  // The events of one attribute: those of the first thread give the ids in the file.
  struct OfThreads {
    std::vector<CpuEvent> first, others;
  };
  Result<OfThreads> OpenAttr(std::uint32_t event, const perfdata::EventAttr& attr,
                             std::span<const pid_t> tids, std::span<const int> cpus);

  FileEvents in_file_;
  std::vector<Sampling> sampling_;
  std::vector<CpuEvent> sideband_;
  Sampler sampler_;
  bool counts_lost_ = false;
  std::vector<CpuEvent> sideband_of_other_threads_;
  std::vector<CpuEvent> ring_owners_;  // if the kernel is the sampler
  std::vector<int> present_cpus_;
};

}  // namespace perftape::record
