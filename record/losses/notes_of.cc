// SPDX-License-Identifier: Apache-2.0
#include "record/losses/notes_of.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "record/losses/loss_causes.h"
#include "record/unwind/chain_end_names.h"

namespace perftape::record {
namespace {

using bundle::NotedChains;
using bundle::NotedLoss;
using bundle::NotedThrottling;
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

// Subtracts from each count that of the same event, CPU and cause before.
template <class Noted, class Same>
std::vector<Noted> Since(const std::vector<Noted>& before, const std::vector<Noted>& now,
                         Same same) {
  std::vector<Noted> news;
  for (Noted noted : now) {
    const auto old =
        std::ranges::find_if(before, [&](const Noted& one) { return same(one, noted); });
    if (old != before.end()) noted.count -= std::min(noted.count, old->count);
    AddUnlessNone(std::move(noted), news);
  }
  return news;
}

bool IsSameLoss(const NotedLoss& one, const NotedLoss& other) {
  return one.event == other.event && one.cpu == other.cpu && one.cause == other.cause;
}

bool IsSameEnd(const NotedChains& one, const NotedChains& other) {
  return one.event == other.event && one.end == other.end;
}

std::vector<NotedThrottling> ThrottlingSince(const std::vector<NotedThrottling>& before,
                                             const std::vector<NotedThrottling>& now) {
  std::vector<NotedThrottling> news;
  for (NotedThrottling cpu : now) {
    for (const NotedThrottling& old : before) {
      if (old.event != cpu.event || old.cpu != cpu.cpu) continue;
      cpu.times -= std::min(cpu.times, old.times);
      cpu.ns -= std::min(cpu.ns, old.ns);
    }
    if (cpu.times > 0 || cpu.ns > 0) news.push_back(std::move(cpu));
  }
  return news;
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

RecordingNotes NotesByFile::Next(const RecordingNotes& so_far) {
  RecordingNotes file = so_far;
  file.samples -= std::min(file.samples, before_.samples);
  file.aggregated -= std::min(file.aggregated, before_.aggregated);
  file.lost = Since(before_.lost, so_far.lost, &IsSameLoss);
  file.lost_processes = Since(before_.lost_processes, so_far.lost_processes, &IsSameLoss);
  file.chains = Since(before_.chains, so_far.chains, &IsSameEnd);
  file.throttled = ThrottlingSince(before_.throttled, so_far.throttled);
  std::erase_if(file.absences, [this](const bundle::NotedAbsence& absence) {
    return std::ranges::find(before_.absences, absence) != before_.absences.end() &&
           absence.until_ns.has_value();
  });
  if (before_.rates.size() > 1) {
    file.rates.erase(
        file.rates.begin(),
        std::prev(file.rates.begin() + static_cast<std::ptrdiff_t>(before_.rates.size())));
  }
  before_ = so_far;
  return file;
}

}  // namespace perftape::record
