// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/followed_processes.h"

#include <bit>
#include <cstring>
#include <utility>

#include "formats/perfdata/record_cursor.h"

namespace perftape::record {

FollowedProcesses::FollowedProcesses(const perfdata::SampleFormat& format, const UnwindMaps& maps,
                                     KnownBinaries& known, OthersFiles& files,
                                     const UnmappedLimits& unmapped_limits)
    : format_(format), binaries_(maps, known, files, unmapped_limits), entries_(maps) {}

void FollowedProcesses::ApplyAll(Bytes records) {
  perfdata::RecordCursor cursor(records, 0, std::endian::native);
  while (cursor.Step()) Apply(cursor.record());
}

// All types begin with the id of the process; FORK then has that of the parent.
bool FollowedProcesses::IsOfInterest(const perfdata::RecordView& record) {
  std::uint32_t ids[2] = {};
  if (record.payload.size() < sizeof ids) return false;
  std::memcpy(ids, record.payload.data(), sizeof ids);
  switch (record.type) {
    case perfdata::RecordType::kLost:
      has_lost_records_ = true;
      return false;
    case perfdata::RecordType::kFork:
      if (followed_ && followed_->contains(ids[1])) followed_->insert(ids[0]);
      // A child that ran before may have called exec.
      if (ignored_.contains(ids[1]) && (record.misc & perfdata::kMiscForkExec) == 0) {
        ignored_.insert(ids[0]);
      }
      break;
    case perfdata::RecordType::kComm:
      if ((record.misc & perfdata::kMiscCommExec) != 0) ignored_.erase(ids[0]);
      break;
    case perfdata::RecordType::kExit:
    case perfdata::RecordType::kMmap2:
      break;
    default:
      return false;
  }
  if (ids[0] == WIRE_FOREIGN_PID) return false;
  if (followed_ && !followed_->contains(ids[0])) return false;
  if (!ignored_.contains(ids[0])) changed_.insert(ids[0]);
  return true;
}

void FollowedProcesses::Apply(const perfdata::RecordView& record) {
  if (!IsOfInterest(record)) return;
  processes_.Apply(record, format_);
  if (processes_.forgotten()) ForgetProcess(*processes_.forgotten());
}

bool FollowedProcesses::HasLostRecords() {
  return std::exchange(has_lost_records_, false);
}

void FollowedProcesses::ForgetIf(const std::function<bool(std::uint32_t pid)>& has_ended) {
  for (const std::uint32_t pid : processes_.ForgetIf(has_ended)) ForgetProcess(pid);
}

void FollowedProcesses::ForgetProcess(std::uint32_t pid) {
  changed_.insert(pid);
  if (followed_) followed_->erase(pid);
}

std::vector<MappedBinaries::Mapping> FollowedProcesses::MappingsOf(
    const std::unordered_set<std::uint32_t>& pids) {
  std::vector<MappedBinaries::Mapping> mappings;
  for (const std::uint32_t pid : pids) {
    processes_.UserSpace(pid).ForEach([&](const perfdata::Region& region) {
      mappings.push_back({.pid = pid, .region = region});
    });
  }
  return mappings;
}

void FollowedProcesses::ReadFirstBinaries(std::uint64_t now_ns, const std::atomic<bool>& stop) {
  binaries_.ReadAll(MappingsOf(changed_), now_ns, stop);
  binaries_.ReadAllSmall(MappingsOf(ignored_), now_ns, stop);
}

void FollowedProcesses::ReadNextBinary(std::uint64_t now_ns, const std::atomic<bool>& stop) {
  for (const std::uint32_t pid : binaries_.ReadNext(now_ns, stop)) changed_.insert(pid);
}

// An ended process has an interval for the records of its children, which other rings may have.
bool FollowedProcesses::ForgetUnmapped(std::uint64_t now_ns) {
  if (!may_have_unmapped_) return false;
  const std::uint64_t ends = std::exchange(ends_, processes_.ends());
  for (const std::uint32_t pid : processes_.ForgetEnded(ends)) ForgetProcess(pid);
  WriteChanged(now_ns);  // no mapping may lead to a table that leaves the maps
  may_have_unmapped_ = ends != ends_;
  binaries_.ForgetUnmapped(processes_.MappedDsos(), now_ns);
  if (growth_.IsDue(processes_.size())) {
    processes_.ForgetUnused([&](const perfdata::Dso& dso) { return binaries_.UsesDso(dso); });
    growth_.Restart(processes_.size());
  }
  return true;
}

// A process without executable mappings has no entry.
void FollowedProcesses::WriteChanged(std::uint64_t now_ns) {
  may_have_unmapped_ = may_have_unmapped_ || !changed_.empty();
  for (const std::uint32_t pid : std::exchange(changed_, {})) {
    mappings_.clear();
    processes_.UserSpace(pid).ForEach([&](const perfdata::Region& region) {
      mappings_.push_back(binaries_.WireMapping({.pid = pid, .region = region}));
    });
    if (mappings_.empty()) {
      entries_.Remove(pid, now_ns);
    } else {
      entries_.Set(pid, mappings_, now_ns);
    }
  }
}

}  // namespace perftape::record
