// SPDX-License-Identifier: Apache-2.0
#include "record/summary.h"

#include <utility>

#include "record/losses/loss_causes.h"

namespace perftape::record {
namespace {

using bundle::NotedChains;
using bundle::NotedLoss;
using bundle::RecordingNotes;

template <class Noted>
void AddUnlessNone(Noted noted, std::vector<Noted>& all) {
  if (noted.count > 0) all.push_back(std::move(noted));
}

void AddEvent(const EventLosses& event, RecordingNotes& notes) {
  for (const LossByCpu& loss : event.losses) {
    for (const LossCause& cause : kLossCauses) {
      AddUnlessNone(NotedLoss{event.name, loss.cpu, std::string(cause.key), loss.*cause.samples},
                    notes.lost);
    }
  }
  const ChainEnds& ends = event.chains.ends;
  AddUnlessNone(
      NotedChains{event.name, std::string(bundle::kCompleteChain), ends[WIRE_END_OF_STACK]},
      notes.chains);
  for (const ChainEnd& incomplete : kIncompleteEnds) {
    AddUnlessNone(NotedChains{event.name, incomplete.key, ends[incomplete.end]}, notes.chains);
  }
  for (const ThrottledCpu& cpu : event.throttled) {
    notes.throttled.push_back({event.name, cpu.cpu, cpu.times, cpu.throttled_ns});
  }
}

void AddLosses(const LossSummary& losses, RecordingNotes& notes) {
  for (const EventLosses& event : losses.events) AddEvent(event, notes);
  AddUnlessNone(NotedLoss{"", -1, std::string(kDamaged), losses.damaged_messages}, notes.lost);
  for (const AbsentCpu& absence : losses.absences) {
    bundle::NotedAbsence noted{absence.cpu, losses.start_ns + absence.from_ns, {}};
    if (absence.until_ns) noted.until_ns = losses.start_ns + *absence.until_ns;
    notes.absences.push_back(noted);
  }
}

void AddCounts(const OutputCounts& counts, RecordingNotes& notes) {
  notes.samples = counts.samples;
  AddUnlessNone(NotedLoss{"", -1, std::string(kUnwritten), counts.unwritten_samples}, notes.lost);
  for (const auto& [cpu, records] : counts.sideband_losses) {
    notes.lost_processes.push_back({"", cpu, std::string(kSidebandRing), records});
  }
  AddUnlessNone(NotedLoss{"", -1, std::string(kUnwritten), counts.unwritten_process_events},
                notes.lost_processes);
  notes.aggregate_ns = counts.aggregate_ns;
  notes.aggregated = counts.aggregated;
}

}  // namespace

std::uint64_t RecordSummary::lost_samples() const {
  return losses.lost_samples + output.counts.unwritten_samples + output.counts.gone_samples;
}

std::uint64_t RecordSummary::lost_process_events() const {
  std::uint64_t lost = output.counts.unwritten_process_events;
  for (const auto& [cpu, records] : output.counts.sideband_losses) lost += records;
  return lost;
}

RecordingNotes NotesOf(const RecordSummary& summary) {
  RecordingNotes notes;
  AddLosses(summary.losses, notes);
  AddCounts(summary.output.counts, notes);
  notes.start_ns = summary.losses.start_ns;
  notes.end_ns = summary.end_ns;
  notes.rates = summary.rates;
  notes.pauses = summary.pauses;
  notes.containers = summary.containers;
  notes.cgroups = summary.cgroups;
  notes.processes = summary.processes;
  notes.latency = summary.latency.calls;
  notes.latency_min = summary.latency.min;
  notes.latency_lost = summary.latency.lost;
  return notes;
}

}  // namespace perftape::record
