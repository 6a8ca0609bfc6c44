// SPDX-License-Identifier: Apache-2.0
#include "record/input/initial_state.h"

#include <linux/types.h>

#include <algorithm>
#include <iterator>

#include "bpf/wire.h"
#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/record.h"
#include "record/bpf/kernel_facts.h"
#include "record/machine/kernel_maps.h"

namespace perftape::record {
namespace {

// As perf does (tools/perf/util/synthetic-events.c, perf_event__synthesize_cgroups).
Status AppendCgroups(const Scope& scope, const perfdata::SampleFormat& format,
                     std::vector<std::byte>& records) {
  if (!scope.recorded) return {};
  for (const CgroupDirectory& cgroup : CgroupsOf(*scope.recorded)) {
    const perfdata::Cgroup record{.id = cgroup.id, .path = cgroup.path};
    TRY(perfdata::Encode(record, {}, format, 0, records));
  }
  return {};
}

// The samples that sum short waits or fast calls have no stack. Their frame gets a name in this
// way: readers show an OOL symbol without looking for its code (tools/perf/util/machine.c,
// machine__process_ksymbol_register).
Status AppendNameOfSums(const FileEvents& events, SampleCause cause, std::uint64_t address,
                        std::string_view name, std::vector<std::byte>& records) {
  const auto sums = [&](const PlannedEvent& event) { return event.cause == cause; };
  if (std::ranges::none_of(events.sampling(), sums)) return {};
  const perfdata::Ksymbol symbol{.address = address,
                                 .length = 1,
                                 .symbol_type = perfdata::Ksymbol::kTypeOutOfLine,
                                 .name = name};
  return perfdata::Encode(symbol, {}, events.format(), 0, records);
}

}  // namespace

Result<std::vector<std::byte>> EncodeInitialState(const RecordedEvents& events,
                                                  const Targets& targets, const Scope& scope,
                                                  const SnapshotContent& content,
                                                  std::span<const BpfProgram> programs,
                                                  std::vector<std::string>& warnings) {
  const perfdata::SampleFormat& format = events.in_file().format();
  std::vector<std::byte> records;
  TRY(events.in_file().ids().AppendIndex(records));
  if (events.sampler() != Sampler::kKernelForUser) {
    TRY_ASSIGN(std::vector<std::string> hidden,
               AppendKernelMaps({.text = LookUpKernelText()}, format, records));
    std::ranges::move(hidden, std::back_inserter(warnings));
  }
  TRY(AppendBpfPrograms(programs, format, records));
  TRY(AppendNameOfSums(events.in_file(), SampleCause::kSleep, WIRE_SHORT_WAITS_IP,
                       perfdata::kShortWaits, records));
  TRY(AppendNameOfSums(events.in_file(), SampleCause::kLatency, WIRE_FAST_CALLS_IP,
                       perfdata::kFastCalls, records));
  TRY(AppendCgroups(scope, format, records));
  if (const auto& processes = targets.processes()) {
    TRY(SnapshotProcesses("/proc", *processes, format, records, content));
  } else {
    TRY(SnapshotAll("/proc", format, records, content));
  }
  TRY(perfdata::Encode(perfdata::FinishedInit{}, 0, records));
  return records;
}

}  // namespace perftape::record
