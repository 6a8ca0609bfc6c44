// SPDX-License-Identifier: Apache-2.0
// The events of a recording, open on every CPU, and the ids by which records name them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "record/events/cpu_events.h"
#include "record/events/event_attrs.h"
#include "record/events/event_ids.h"

namespace perftape::record {

// The index of each event's attribute in the file.
inline constexpr std::uint32_t kSamplingEvent = 0;
inline constexpr std::uint32_t kSidebandEvent = 1;

// Owns the descriptors of the events. Not thread-safe.
class RecordedEvents {
 public:
  // Opens the sampling event on `cpus`, or on all online CPUs if it is empty. Opens the sideband
  // event on all online CPUs, because a process may map and fork on any of them. Reserves ids for
  // CPUs that are offline. Returns the errors of OpenOnCpus.
  static Result<RecordedEvents> Open(SamplingRate rate, std::span<const int> cpus);

  // Opens the sideband event of a CPU that came online. Its records keep the id that the file has.
  // The caller passes it to KeepSideband when its ring is mapped; likewise with the sampling event.
  Result<CpuEvent> ReopenSideband(int cpu);
  Result<CpuEvent> ReopenSampling(int cpu);
  // Replaces the event of the same CPU.
  void KeepSideband(CpuEvent event);
  void KeepSampling(CpuEvent event);

  // Returns whether the sampling event was requested on this CPU.
  bool IsSampled(int cpu) const;
  // Returns how long the sampling event of the CPU has been enabled. Fails with kNotFound if it has
  // none.
  Result<std::uint64_t> SamplingEnabledNs(int cpu) const;

  // The events as the file's attribute table lists them.
  std::vector<perfdata::Event> AttributeTable() const;
  // The trailer of a record that the recorder itself writes about an event. The id is 0 if the
  // event has none on this CPU.
  perfdata::SampleId TrailerOf(std::uint32_t event, std::uint32_t cpu, std::uint64_t time_ns) const;

  std::span<const CpuEvent> sampling() const { return sampling_; }
  std::span<const CpuEvent> sideband() const { return sideband_; }
  // The CPUs of this machine, online or not; empty if the kernel does not list them.
  std::span<const int> present_cpus() const { return present_cpus_; }
  const EventIds& ids() const { return ids_; }
  // The layout of the records of both events.
  const perfdata::SampleFormat& format() const { return format_; }

 private:
  explicit RecordedEvents(SamplingRate rate);

  SamplingRate rate_;
  perfdata::SampleFormat format_;
  std::vector<CpuEvent> sampling_, sideband_;
  std::vector<int> present_cpus_;
  EventIds ids_;
};

}  // namespace perftape::record
