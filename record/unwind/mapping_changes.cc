// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapping_changes.h"

#include <algorithm>
#include <cstring>

namespace perftape::record {
namespace {

// COMM: pid, tid. FORK: pid, ppid.
struct FirstIds {
  std::uint32_t pid = 0, second = 0;
};

std::optional<FirstIds> FirstIdsOf(const perfdata::RecordView& record) {
  FirstIds ids;
  if (record.payload.size() < sizeof ids) return std::nullopt;
  std::memcpy(&ids, record.payload.data(), sizeof ids);
  return ids;
}

// Whether the record gives the process another address space.
bool ReplacesAll(const perfdata::RecordView& record, const FirstIds& ids) {
  switch (record.type) {
    case perfdata::RecordType::kComm:
      return (record.misc & perfdata::kMiscCommExec) != 0;
    case perfdata::RecordType::kFork:
      return ids.pid != ids.second;
    default:
      return false;
  }
}

// Memory without a file has no table that depends on the offset.
bool IsSameCode(const perfdata::Region& a, const perfdata::Region& b) {
  return a.dso == b.dso &&
         (a.dso->inode == 0 || a.start - a.page_offset == b.start - b.page_offset);
}

}  // namespace

void LoadTimes::Add(std::uint64_t written_ns, std::uint64_t loaded_ns) {
  const std::lock_guard lock(mutex_);
  if (loads_.size() == kMost) loads_.pop_front();
  loads_.push_back({.written_ns = written_ns, .loaded_ns = loaded_ns});
}

std::optional<std::uint64_t> LoadTimes::LoadedSince(std::uint64_t written_ns) const {
  const std::lock_guard lock(mutex_);
  const auto load = std::ranges::upper_bound(loads_, written_ns, {}, &Load::written_ns);
  return load == loads_.end() ? std::nullopt : std::optional(load->loaded_ns);
}

void MappingChanges::Apply(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                           perfdata::Processes& processes) {
  if (record.type == perfdata::RecordType::kMmap2) return ApplyMapping(record, format, processes);
  const std::optional<FirstIds> ids = FirstIdsOf(record);
  if (ids && ReplacesAll(record, *ids) && processes.UserSpace(ids->pid).size() > 0) {
    Add(ids->pid, {.start = 0,
                   .end = std::numeric_limits<std::uint64_t>::max(),
                   .made_ns = perfdata::DecodeSampleId(record, format).time});
  }
  processes.Apply(record, format);
}

void MappingChanges::ApplyMapping(const perfdata::RecordView& record,
                                  const perfdata::SampleFormat& format,
                                  perfdata::Processes& processes) {
  const auto mapping = perfdata::Decode<perfdata::Mmap2>(record, format);
  if (!mapping || mapping->length == 0) return processes.Apply(record, format);
  const std::uint64_t start = mapping->start;
  const std::uint64_t end = start + std::min(mapping->length, ~start);
  replaced_.clear();
  const perfdata::AddressSpace& space = processes.UserSpace(mapping->pid);
  for (std::uint64_t last = end - 1;;) {
    const perfdata::Region* const region = space.FindBelow(last);
    if (region == nullptr || region->end <= start) break;
    replaced_.push_back(*region);
    if (region->start <= start) break;
    last = region->start - 1;
  }
  processes.Apply(record, format);
  const std::uint64_t made_ns = perfdata::DecodeSampleId(record, format).time;
  for (const perfdata::Region& old : replaced_) {
    const std::uint64_t first = std::max(old.start, start);
    const perfdata::Region* const now = processes.UserSpace(mapping->pid).Find(first);
    if (now != nullptr && IsSameCode(old, *now)) continue;
    Add(mapping->pid, {.start = first, .end = std::min(old.end, end), .made_ns = made_ns});
  }
}

void MappingChanges::Add(std::uint32_t pid, const Change& change) {
  if (changes_.size() >= kMostProcesses) {
    std::erase_if(changes_, [&](const auto& of_process) {
      return loads_.LoadedSince(of_process.second.back().made_ns).has_value();
    });
  }
  std::deque<Change>& changes = changes_[pid];
  if (changes.size() == kMostOfProcess) changes.pop_front();
  changes.push_back(change);
}

std::size_t MappingChanges::SureFrames(std::uint32_t pid, std::uint64_t walked_ns,
                                       WordArray frames) {
  std::size_t sure = frames.size();
  const auto of_process = changes_.find(pid);
  if (of_process == changes_.end()) return sure;
  for (Change& change : of_process->second) {
    if (walked_ns < change.made_ns) break;
    if (change.loaded_ns == kNotLoaded) {
      change.loaded_ns = loads_.LoadedSince(change.made_ns).value_or(kNotLoaded);
    }
    if (walked_ns >= change.loaded_ns) continue;
    for (std::size_t i = 0; i < sure; ++i) {
      // The call may be the last instruction of its code.
      const std::uint64_t address = frames[i] - (i == 0 ? 0 : 1);
      if (change.start <= address && address < change.end) sure = i + 1;
    }
  }
  return sure;
}

}  // namespace perftape::record
