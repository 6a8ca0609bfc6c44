// SPDX-License-Identifier: Apache-2.0
#include "record/output/initial_state.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/record.h"
#include "record/machine/kernel_maps.h"
#include "record/processes/proc_snapshot.h"

namespace perftape::record {

Result<std::vector<std::byte>> EncodeInitialState(const RecordedEvents& events,
                                                  const Targets& targets,
                                                  std::span<const BpfProgram> programs,
                                                  std::vector<std::string>& warnings) {
  const perfdata::SampleFormat& format = events.format();
  std::vector<std::byte> records;
  TRY(events.ids().AppendIndex(records));
  TRY_ASSIGN(std::vector<std::string> hidden, AppendKernelMaps({}, format, records));
  std::ranges::move(hidden, std::back_inserter(warnings));
  TRY(AppendBpfPrograms(programs, format, records));
  if (const auto& processes = targets.processes()) {
    TRY(SnapshotProcesses("/proc", *processes, format, records));
  } else {
    TRY(SnapshotAll("/proc", format, records));
  }
  TRY(perfdata::Encode(perfdata::FinishedInit{}, 0, records));
  return records;
}

}  // namespace perftape::record
