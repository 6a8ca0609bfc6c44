// SPDX-License-Identifier: Apache-2.0
#include "record/output/initial_state.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/record.h"
#include "record/machine/kernel_maps.h"
#include "record/processes/proc_snapshot.h"

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

}  // namespace

Result<std::vector<std::byte>> EncodeInitialState(const RecordedEvents& events,
                                                  const Targets& targets, const Scope& scope,
                                                  std::span<const BpfProgram> programs,
                                                  std::vector<std::string>& warnings) {
  const perfdata::SampleFormat& format = events.format();
  std::vector<std::byte> records;
  TRY(events.ids().AppendIndex(records));
  TRY_ASSIGN(std::vector<std::string> hidden, AppendKernelMaps({}, format, records));
  std::ranges::move(hidden, std::back_inserter(warnings));
  TRY(AppendBpfPrograms(programs, format, records));
  TRY(AppendCgroups(scope, format, records));
  const SnapshotContent content = {.namespaces = scope.namespaces};
  if (const auto& processes = targets.processes()) {
    TRY(SnapshotProcesses("/proc", *processes, format, records, content));
  } else {
    TRY(SnapshotAll("/proc", format, records, content));
  }
  TRY(perfdata::Encode(perfdata::FinishedInit{}, 0, records));
  return records;
}

}  // namespace perftape::record
