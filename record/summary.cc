// SPDX-License-Identifier: Apache-2.0
#include "record/summary.h"

#include <utility>

namespace perftape::record {

RecordSummary SumUp(std::span<const PlannedEvent> events, LossSummary losses,
                    OutputSummary output) {
  OutputCounts& counts = output.counts;
  RecordSummary summary = {
      .start_ns = losses.start_ns,
      .samples = counts.samples,
      .lost_samples = losses.lost_samples + counts.unwritten_samples + counts.gone_samples,
      .damaged_messages = losses.damaged_messages,
      .unwritten_samples = counts.unwritten_samples,
      .lost_process_events = counts.unwritten_process_events,
      .sideband_losses = std::move(counts.sideband_losses),
      .aggregated = counts.aggregated,
      .aggregate_ns = counts.aggregate_ns,
      .bytes_written = output.bytes_written,
      .compression = output.compression,
      .events = {},
      .absences = std::move(losses.absences),
      .bundle = std::move(output.bundle),
      .bundle_failure = std::move(output.bundle_failure),
      .file = std::move(output.file),
      .failure = std::move(output.failure),
      .rotation = std::move(output.rotation),
      .flight = std::move(output.flight),
      .command_failure = {},
      .command_status = {},
      .warnings = std::move(output.warnings)};
  for (const auto& [cpu, records] : summary.sideband_losses) {
    summary.lost_process_events += records;
  }
  for (std::size_t event = 0; event < events.size(); ++event) {
    EventLosses& lost = losses.events[event];
    summary.events.push_back({.name = events[event].name,
                              .samples = counts.samples_by_event[event],
                              .losses = std::move(lost.losses),
                              .stalls = std::move(lost.stalls),
                              .silences = std::move(lost.silences),
                              .throttled = std::move(lost.throttled),
                              .chain_ends = lost.chains.ends,
                              .derived_chains = lost.chains.derived});
  }
  return summary;
}

}  // namespace perftape::record
