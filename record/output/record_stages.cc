// SPDX-License-Identifier: Apache-2.0
#include "record/output/record_stages.h"

namespace perftape::record {

RecordStages::RecordStages(const std::optional<std::vector<std::uint32_t>>& processes,
                           OutputParts& parts, OutputPlan& plan)
    : parts_(parts), plan_(plan) {
  if (processes) targets_.emplace(*processes, parts.files.format());
}

Status RecordStages::Append(Bytes bytes) {
  const std::optional<perfdata::RecordView> record = perfdata::AsRecord(bytes);
  if (!record) return Fail(ErrorCode::kCorrupt, "what is recorded is not one whole record");
  if (targets_ && !targets_->Keeps(*record)) return {};
  TRY(parts_.counter.Count(*record));
  if (parts_.cgroups) NoteProcess(*record);
  build_ids_.clear();
  TRY(parts_.build_ids.Observe(*record, build_ids_));
  return plan_.Append({.view = *record, .bytes = bytes, .build_ids = build_ids_});
}

void RecordStages::NoteProcess(const perfdata::RecordView& record) {
  if (record.type == perfdata::RecordType::kFork) {
    const auto fork = perfdata::Decode<perfdata::Fork>(record, parts_.sample_formats.Of(record));
    if (fork) parts_.cgroups->AddFork(fork->pid, fork->ppid);
    return;
  }
  if (record.type != perfdata::RecordType::kSample) return;
  const auto sample = perfdata::RecoverSample(record, parts_.sample_formats.Of(record));
  if (sample && sample->pid != 0) parts_.cgroups->AddProcess(sample->pid);
}

}  // namespace perftape::record
