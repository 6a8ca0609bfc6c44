// SPDX-License-Identifier: Apache-2.0
#include "record/output/notes_by_file.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace perftape::record {
namespace {

using bundle::NotedChains;
using bundle::NotedLoss;
using bundle::NotedThrottling;
using bundle::RecordingNotes;

// Subtracts from each count that of the same event, CPU and cause before.
template <class Noted, class Same>
std::vector<Noted> Since(const std::vector<Noted>& before, const std::vector<Noted>& now,
                         Same same) {
  std::vector<Noted> news;
  for (Noted noted : now) {
    const auto old =
        std::ranges::find_if(before, [&](const Noted& one) { return same(one, noted); });
    if (old != before.end()) noted.count -= std::min(noted.count, old->count);
    if (noted.count > 0) news.push_back(std::move(noted));
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
