// SPDX-License-Identifier: Apache-2.0
#include "record/input/context_ledger.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

// The pauses after looks that found nothing. The last one repeats: a program can load its SDK late.
constexpr std::array kPausesNs = {kNsPerSecond / 4, kNsPerSecond, 5 * kNsPerSecond,
                                  30 * kNsPerSecond, 300 * kNsPerSecond};
// A context can change.
constexpr std::uint64_t kNextLookNs = 30 * kNsPerSecond;

}  // namespace

void ContextLedger::PlanLook(std::uint32_t pid, Process& process, std::uint64_t time_ns) {
  if (process.next_look_ns != 0) planned_.erase({process.next_look_ns, pid});
  process.next_look_ns = time_ns;
  if (time_ns != 0) planned_.emplace(time_ns, pid);
}

void ContextLedger::EndContext(std::uint32_t pid, Process& process, std::uint64_t until_ns) {
  if (!process.context) return;
  --contexts_;
  if (until_ns > process.from_ns) {
    ended_.push_back({.pid = pid,
                      .from_ns = process.from_ns,
                      .until_ns = until_ns,
                      .attributes = std::move(process.context->attributes)});
    if (ended_.size() + contexts_ > kMostContexts) ended_.pop_front();
  }
  process.context.reset();
}

void ContextLedger::AddSampled(std::uint32_t pid, std::uint64_t now_ns) {
  if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) return;
  Process& process = processes_[pid];
  if (std::exchange(process.has_sample, true)) return;
  if (process.looks == 0 && process.next_look_ns == 0) PlanLook(pid, process, now_ns);
}

void ContextLedger::Start(std::uint32_t pid, std::uint64_t time_ns) {
  if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) return;
  Process& process = processes_[pid];
  process.start_ns = std::max(process.start_ns, time_ns);
  if (process.context && time_ns < process.begin_ns) {
    process.from_ns = std::max(process.from_ns, time_ns);  // the context is that of this program
    return;
  }
  // A look while it started may have found the context of either program.
  EndContext(pid, process, time_ns > process.end_ns ? time_ns : process.from_ns);
  process.looks = 0;
  process.has_sample = false;
  PlanLook(pid, process, 0);
}

void ContextLedger::Exit(std::uint32_t pid, std::uint64_t time_ns) {
  const auto found = processes_.find(pid);
  if (found == processes_.end() || time_ns < found->second.start_ns) return;
  EndContext(pid, found->second, time_ns);
  PlanLook(pid, found->second, 0);
  processes_.erase(found);
}

std::optional<std::uint32_t> ContextLedger::NextLook(std::uint64_t now_ns) {
  if (planned_.empty() || planned_.begin()->first > now_ns) return std::nullopt;
  const std::uint32_t pid = planned_.begin()->second;
  PlanLook(pid, processes_[pid], 0);
  return pid;
}

std::uint64_t ContextLedger::NextLookNs() const {
  return planned_.empty() ? UINT64_MAX : planned_.begin()->first;
}

void ContextLedger::AddLook(std::uint32_t pid, std::uint64_t begin_ns, std::uint64_t end_ns,
                            std::optional<FoundContext> found) {
  const auto at = processes_.find(pid);
  if (at == processes_.end() || !at->second.has_sample) return;
  Process& process = at->second;
  if (begin_ns <= process.start_ns) return PlanLook(pid, process, end_ns);
  const std::size_t look = process.looks++;
  if (!found) {
    if (process.context) return PlanLook(pid, process, end_ns + kNextLookNs);
    return PlanLook(pid, process, end_ns + kPausesNs[std::min(look, kPausesNs.size() - 1)]);
  }
  PlanLook(pid, process, end_ns + kNextLookNs);
  const bool is_first = !process.context;
  if (is_first || process.context->published_ns != found->published_ns) {
    EndContext(pid, process, begin_ns);
    if (ended_.size() + contexts_ >= kMostContexts && ended_.empty()) return;
    process.from_ns = is_first ? process.start_ns : begin_ns;
    process.context = *std::move(found);
    ++contexts_;
  }
  process.begin_ns = begin_ns;
  process.end_ns = end_ns;
}

std::vector<bundle::NotedProcess> ContextLedger::Noted() const {
  std::vector<bundle::NotedProcess> noted(ended_.begin(), ended_.end());
  const auto first = static_cast<std::ptrdiff_t>(noted.size());
  for (const auto& [pid, process] : processes_) {
    if (!process.context) continue;
    noted.push_back({.pid = pid,
                     .from_ns = process.from_ns,
                     .until_ns = {},
                     .attributes = process.context->attributes});
  }
  std::ranges::sort(noted.begin() + first, noted.end(), {}, &bundle::NotedProcess::pid);
  return noted;
}

}  // namespace perftape::record
