// SPDX-License-Identifier: Apache-2.0
// The events of a recording, open on every CPU, and the ids by which records name them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "record/events/cpu_events.h"
#include "record/events/event_attrs.h"
#include "record/events/event_ids.h"
#include "record/events/event_plan.h"
#include "record/events/sample_formats.h"

namespace perftape::record {

// The index of the first sampling event's attribute in the file. The sideband event comes after the
// last sampling event.
inline constexpr std::uint32_t kFirstEvent = 0;

// Owns the descriptors of the events. Not thread-safe.
class RecordedEvents {
 public:
  // A sampling event. A tracepoint or probe is opened on one CPU only: its BPF program runs on all.
  // An off-CPU event is not opened, and has invented ids.
  struct Sampling {
    PlannedEvent plan;
    std::vector<CpuEvent> on_cpus;

    bool is_per_cpu() const { return IsPerCpu(plan.trigger); }
  };

  // Opens the sampling events of `plan` on `cpus`, or on all online CPUs if it is empty. Opens the
  // sideband event on all online CPUs, because a process may map and fork on any of them. Reserves
  // ids for CPUs that are offline. Returns the errors of OpenOnCpus, which name the event.
  static Result<RecordedEvents> Open(std::vector<PlannedEvent> plan, std::span<const int> cpus,
                                     const SidebandContent& content);

  // Opens the sideband event of a CPU that came online. Its records keep the id that the file has.
  // The caller passes it to KeepSideband when its ring is mapped; likewise with a sampling event.
  Result<CpuEvent> ReopenSideband(int cpu);
  Result<CpuEvent> ReopenSampling(std::uint32_t event, int cpu);
  // Replaces the event of the same CPU.
  void KeepSideband(CpuEvent opened);
  void KeepSampling(std::uint32_t event, CpuEvent opened);
  // Closes the tracepoints. Before Linux 5.15 only this ends the calls of their programs.
  void CloseTracepoints();

  // Returns whether the sampling events were requested on this CPU.
  bool IsSampled(int cpu) const;
  // The first event that is opened on each CPU; nothing if all are tracepoints.
  std::optional<std::uint32_t> first_per_cpu() const;
  // Returns how long this event has been enabled on the CPU. Fails with kNotFound if there is none.
  Result<std::uint64_t> SamplingEnabledNs(int cpu) const;

  // The events as the file's attribute table lists them.
  std::vector<perfdata::Event> AttributeTable() const;
  // The trailer of a record that the recorder itself writes about an event. The id is 0 if the
  // event has none on this CPU.
  perfdata::SampleId TrailerOf(std::uint32_t event, std::uint32_t cpu, std::uint64_t time_ns) const;

  // The index is the number of the event.
  std::span<const Sampling> sampling() const { return sampling_; }
  std::span<const CpuEvent> sideband() const { return sideband_; }
  std::uint32_t sideband_event() const { return static_cast<std::uint32_t>(sampling_.size()); }
  // The CPUs of this machine, online or not; empty if the kernel does not list them.
  std::span<const int> present_cpus() const { return present_cpus_; }
  const EventIds& ids() const { return ids_; }
  // The layout of the records of all events, except for what follows the callchain of a sample, and
  // for the addresses of wakeups.
  const perfdata::SampleFormat& format() const { return format_; }
  // The layout of the samples of each sampling event.
  std::vector<perfdata::SampleFormat> FormatsByEvent() const;
  // The layouts of all samples up to the callchain.
  SampleFormats sample_formats() const;

 private:
  RecordedEvents(std::vector<PlannedEvent> plan, const SidebandContent& content);
  Status OpenSampling(std::span<const int> cpus);

  perfdata::EventAttr sideband_attr_;  // in the file
  perfdata::SampleFormat format_;
  std::vector<Sampling> sampling_;
  std::vector<CpuEvent> sideband_;
  std::vector<int> present_cpus_;
  EventIds ids_;
};

}  // namespace perftape::record
