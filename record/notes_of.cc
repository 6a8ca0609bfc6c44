// SPDX-License-Identifier: Apache-2.0
#include "record/notes_of.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "record/losses/loss_causes.h"
#include "record/unwind/chain_end_names.h"

namespace perftape::record {
namespace {

using bundle::NotedChains;
using bundle::NotedLoss;
using bundle::RecordingNotes;

template <class Noted>
void AddUnlessNone(Noted noted, std::vector<Noted>& all) {
  if (noted.count > 0) all.push_back(std::move(noted));
}

void AddEvent(const EventSummary& event, RecordingNotes& notes) {
  for (const LossByCpu& loss : event.losses) {
    for (const LossCause& cause : kLossCauses) {
      AddUnlessNone(NotedLoss{event.name, loss.cpu, std::string(cause.key), loss.*cause.samples},
                    notes.lost);
    }
  }
  const ChainEnds& ends = event.chain_ends;
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

void AddLostProcesses(const RecordSummary& summary, RecordingNotes& notes) {
  std::uint64_t in_rings = 0;
  for (const auto& [cpu, records] : summary.sideband_losses) {
    notes.lost_processes.push_back({"", cpu, std::string(kSidebandRing), records});
    in_rings += records;
  }
  AddUnlessNone(
      NotedLoss{"", -1, std::string(kUnwritten),
                summary.lost_process_events - std::min(summary.lost_process_events, in_rings)},
      notes.lost_processes);
}

}  // namespace

RecordingNotes NotesOf(const RecordSummary& summary) {
  RecordingNotes notes;
  notes.samples = summary.samples;
  for (const EventSummary& event : summary.events) AddEvent(event, notes);
  AddUnlessNone(NotedLoss{"", -1, std::string(kDamaged), summary.damaged_messages}, notes.lost);
  AddUnlessNone(NotedLoss{"", -1, std::string(kUnwritten), summary.unwritten_samples}, notes.lost);
  AddLostProcesses(summary, notes);
  for (const AbsentCpu& absence : summary.absences) {
    bundle::NotedAbsence noted{absence.cpu, summary.start_ns + absence.from_ns, {}};
    if (absence.until_ns) noted.until_ns = summary.start_ns + *absence.until_ns;
    notes.absences.push_back(noted);
  }
  notes.rates = summary.rates;
  notes.aggregate_ns = summary.aggregate_ns;
  notes.aggregated = summary.aggregated;
  return notes;
}

}  // namespace perftape::record
