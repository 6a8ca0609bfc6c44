// SPDX-License-Identifier: Apache-2.0
#include "record/rings/exit_order.h"

#include <linux/types.h>

#include "bpf/wire.h"

namespace perftape::record {
namespace {

// Tasks that have no tid in this pid namespace share these.
bool IsOfOneThread(std::uint32_t tid) {
  return tid != 0 && tid != WIRE_FOREIGN_PID;
}

}  // namespace

// The bodies are { u32 pid, ppid, tid, ptid; ... } and { u32 pid, tid; ... }.
ThreadRecord ThreadRecordOf(const perfdata::RecordView& record) {
  std::size_t index_of_tid = 2;
  ThreadStep step = ThreadStep::kNone;
  switch (record.type) {
    case perfdata::RecordType::kFork:
      step = ThreadStep::kStart;
      break;
    case perfdata::RecordType::kExit:
      step = ThreadStep::kExit;
      break;
    case perfdata::RecordType::kComm:
      step = ThreadStep::kStart;
      index_of_tid = 1;
      break;
    default:
      return {};
  }
  const std::size_t offset = index_of_tid * sizeof(std::uint32_t);
  if (record.payload.size() < offset + sizeof(std::uint32_t)) return {};
  const auto tid = LoadFixed<std::uint32_t>(record.payload.data() + offset, record.order);
  if (!IsOfOneThread(tid)) return {};
  return {.step = step, .tid = tid};
}

ThreadRecord SampleOfThread(std::uint32_t tid) {
  if (!IsOfOneThread(tid)) return {};
  return {.step = ThreadStep::kSample, .tid = tid};
}

void ExitOrder::Add(std::size_t index, const ThreadRecord& record) {
  if (record.step == ThreadStep::kExit) exited_[record.tid] = {.index = index, .last_sample = {}};
  if (exited_.empty() || record.step == ThreadStep::kNone) return;
  if (record.step == ThreadStep::kStart) exited_.erase(record.tid);
  if (record.step != ThreadStep::kSample) return;
  const auto exited = exited_.find(record.tid);
  if (exited == exited_.end()) return;
  Exit& exit = exited->second;
  if (exit.last_sample) exits_.erase(*exit.last_sample);
  exit.last_sample = index;
  exits_.emplace(index, exit.index);
  moved_.insert(exit.index);
}

std::optional<std::size_t> ExitOrder::ExitAfter(std::size_t index) const {
  const auto found = exits_.find(index);
  if (found == exits_.end()) return std::nullopt;
  return found->second;
}

}  // namespace perftape::record
