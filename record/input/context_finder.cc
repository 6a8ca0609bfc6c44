// SPDX-License-Identifier: Apache-2.0
#include "record/input/context_finder.h"

#include <linux/types.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/duration.h"
#include "formats/otlp/process_context.h"
#include "record/machine/clock.h"

namespace perftape::record {
namespace {

// Nothing for a context without an attribute of a service, and for a damaged one.
std::optional<FoundContext> ContextIn(const std::optional<std::vector<std::byte>>& bytes) {
  if (!bytes) return std::nullopt;
  const auto header = otlp::DecodeProcessContextHeader(*bytes);
  if (!header) return std::nullopt;
  const auto attributes =
      otlp::DecodeServiceAttributes(Bytes(*bytes).subspan(otlp::ProcessContextHeader::kBytes));
  if (!attributes || attributes->empty()) return std::nullopt;
  FoundContext found = {.published_ns = header->published_ns, .attributes = {}};
  for (const auto& [key, text] : *attributes) found.attributes.push_back({key, text});
  return found;
}

}  // namespace

ContextFinder::ContextFinder(Read read, Of of)
    : read_(std::move(read)), of_(of), thread_([this] { Look(); }) {}

ContextFinder::~ContextFinder() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ContextFinder::Look() {
  constexpr std::uint64_t kLongestPauseNs = 60 * kNsPerSecond;
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    const std::uint64_t begin_ns = MonotonicNs();
    const std::optional<std::uint32_t> pid = ledger_.NextLook(begin_ns);
    if (!pid) {
      const std::uint64_t pause_ns = std::min(ledger_.NextLookNs() - begin_ns, kLongestPauseNs);
      changed_.wait_for(lock, std::chrono::nanoseconds(pause_ns));
      continue;
    }
    lock.unlock();
    std::optional<FoundContext> found = ContextIn(read_(*pid));
    const std::uint64_t end_ns = MonotonicNs();
    lock.lock();
    ledger_.AddLook(*pid, begin_ns, end_ns, std::move(found));
  }
}

void ContextFinder::AddOther(std::uint32_t pid) {
  if (pid == 0 || pid == WIRE_FOREIGN_PID) return;
  last_sampled_ = pid;
  if (!sampled_.insert(pid).second) return;
  {
    const std::lock_guard lock(mutex_);
    ledger_.AddSampled(pid, MonotonicNs());
  }
  changed_.notify_one();
}

void ContextFinder::Forget(std::uint32_t pid) {
  sampled_.erase(pid);
  if (pid == last_sampled_) last_sampled_ = 0;
}

void ContextFinder::AddRecord(const perfdata::RecordView& record,
                              const perfdata::SampleFormat& format) {
  const std::uint64_t time_ns = perfdata::TimeOf(record, format);
  if (record.type == perfdata::RecordType::kExit) {
    const auto task = perfdata::Decode<perfdata::Exit>(record, format);
    if (!task || task->pid != task->tid) return;
    Forget(task->pid);
    const std::lock_guard lock(mutex_);
    return ledger_.Exit(task->pid, time_ns);
  }
  std::uint32_t started = 0;
  if (record.type == perfdata::RecordType::kFork) {
    const auto task = perfdata::Decode<perfdata::Fork>(record, format);
    if (task && task->pid != task->ppid) started = task->pid;
  }
  if (record.type == perfdata::RecordType::kComm && (record.misc & perfdata::kMiscCommExec) != 0) {
    const auto comm = perfdata::Decode<perfdata::Comm>(record, format);
    if (comm) started = comm->pid;
  }
  if (started == 0) return;
  Forget(started);
  {
    const std::lock_guard lock(mutex_);
    ledger_.Start(started, time_ns);
  }
  if (of_ == Of::kStarted) AddSampled(started);
}

std::vector<bundle::NotedProcess> ContextFinder::Noted() const {
  const std::lock_guard lock(mutex_);
  return ledger_.Noted();
}

}  // namespace perftape::record
