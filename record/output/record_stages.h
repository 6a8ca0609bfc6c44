// SPDX-License-Identifier: Apache-2.0
// The stages of each record of a recording. A record that concerns no target is dropped. The others
// are counted, and the build ids of the binaries that they hit are read. Then the plan of the
// output gets them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/result.h"
#include "record/output/output_plan.h"
#include "record/processes/target_filter.h"

namespace perftape::record {

// A sink of records (perfdata::RecordSink). Not thread-safe.
class RecordStages {
 public:
  // `processes` are the targets' (RecordInput::processes). The others must outlive this object.
  RecordStages(const std::optional<std::vector<std::uint32_t>>& processes, OutputParts& parts,
               OutputPlan& plan);

  // Gets one record, in time order. Fails with kCorrupt if `bytes` are not one whole record.
  Status Append(Bytes bytes);

 private:
  // Watches the cgroups of a process that has samples, and of those that it starts.
  void NoteProcess(const perfdata::RecordView& record);

  std::optional<TargetFilter> targets_;  // nothing: the whole system
  OutputParts& parts_;
  OutputPlan& plan_;
  std::vector<std::byte> build_ids_;  // scratch
};

}  // namespace perftape::record
