// SPDX-License-Identifier: Apache-2.0
#include "convert/import/process_history.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace perftape::convert {

using perfdata::RecordType;

void RegionHistory::Note(std::uint32_t pid, Epoch epoch, const perfdata::AddressSpace& space) {
  Process& process = processes_[pid];
  if (process.fingerprint == space.fingerprint()) return;
  process.fingerprint = space.fingerprint();

  // Both lists are sorted by address.
  std::vector<Lifetime> mapped;
  auto old = process.mapped.begin();
  const auto end_old = [&](Lifetime& lifetime) {
    lifetime.to = epoch;
    if (lifetime.from < epoch) process.ended.push_back(lifetime);
  };
  space.ForEach([&](const perfdata::Region& region) {
    while (old != process.mapped.end() && old->region.start < region.start) end_old(*old++);
    if (old != process.mapped.end() && old->region == region) {
      mapped.push_back(*old++);
    } else {
      mapped.push_back({.region = region, .from = epoch});
    }
  });
  while (old != process.mapped.end()) end_old(*old++);
  process.mapped = std::move(mapped);
}

std::vector<perfdata::Region> RegionHistory::At(std::uint32_t pid, Epoch epoch) const {
  std::vector<perfdata::Region> regions;
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return regions;
  for (const Lifetime& lifetime : process->second.ended) {
    if (lifetime.from <= epoch && epoch < lifetime.to) regions.push_back(lifetime.region);
  }
  for (const Lifetime& lifetime : process->second.mapped) {
    if (lifetime.from <= epoch) regions.push_back(lifetime.region);
  }
  std::ranges::sort(regions, {}, &perfdata::Region::start);
  return regions;
}

bool ProcessHistory::IsProcessRecord(RecordType type) {
  switch (type) {
    case RecordType::kMmap:
    case RecordType::kMmap2:
    case RecordType::kComm:
    case RecordType::kFork:
    case RecordType::kExit:
    case RecordType::kKsymbol:
    case RecordType::kCgroup:
      return true;
    default:
      return false;
  }
}

void ProcessHistory::Add(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                         const SortKey& key) {
  assert(state_ == State::kAdding);
  const Bytes payload = record.is_lasting ? record.payload : copies_.Copy(record.payload);
  order_ = record.order;
  records_.push_back({.key = key,
                      .payload = payload.data(),
                      .format = &format,
                      .size = static_cast<std::uint32_t>(payload.size()),
                      .type = record.type,
                      .misc = record.misc});
}

void ProcessHistory::AddCode(const Code& code, std::uint64_t time) {
  const std::span<const Code> copy = copies_.Copy(std::span(&code, 1));
  // Precedes all records of the same time, so that samples of that time can be resolved to this
  // code.
  records_.push_back({.key = {.time = time, .sequence_number = 0},
                      .payload = reinterpret_cast<const std::byte*>(copy.data()),
                      .type = kJitCode});
}

void ProcessHistory::Finish() {
  assert(state_ == State::kAdding && records_.size() < std::numeric_limits<Epoch>::max());
  std::ranges::stable_sort(records_, {}, &ProcessRecord::key);
  for (Epoch epoch = 0; epoch < records_.size();) {
    const ProcessRecord& entry = records_[epoch];
    Apply(entry, at_end_);
    Note(entry, ++epoch);
  }
  state_ = State::kFinished;
}

void ProcessHistory::Apply(const ProcessRecord& entry, perfdata::Processes& processes) const {
  if (const Code* code = entry.code()) {
    processes.MapCode(code->pid, code->range, *code->dso);
  } else {
    processes.Apply(RecordOf(entry), *entry.format);
  }
}

perfdata::RecordView ProcessHistory::RecordOf(const ProcessRecord& entry) const {
  return {.type = entry.type,
          .misc = entry.misc,
          .payload = Bytes(entry.payload, entry.size),
          .order = order_};
}

// Stores what the record changed, from this epoch on.
void ProcessHistory::Note(const ProcessRecord& entry, Epoch epoch) {
  if (const Code* code = entry.code()) return NoteSpace(code->pid, epoch);
  const perfdata::RecordView record = RecordOf(entry);
  switch (entry.type) {
    case RecordType::kMmap:
      if (const auto mmap = perfdata::Decode<perfdata::Mmap>(record, *entry.format)) {
        NoteSpace(mmap->pid, epoch);
      }
      break;
    case RecordType::kMmap2:
      if (const auto mmap = perfdata::Decode<perfdata::Mmap2>(record, *entry.format)) {
        NoteSpace(mmap->pid, epoch);
      }
      break;
    case RecordType::kComm:
      if (const auto comm = perfdata::Decode<perfdata::Comm>(record, *entry.format)) {
        NoteSpace(comm->pid, epoch);
        NoteComm(comm->tid, epoch);
      }
      break;
    case RecordType::kFork:
      if (const auto fork = perfdata::Decode<perfdata::Fork>(record, *entry.format)) {
        NoteSpace(fork->pid, epoch);
        NoteEndOfUnnamed(fork->tid, epoch);
        NoteComm(fork->tid, epoch);
      }
      break;
    case RecordType::kExit:
      if (const auto exit = perfdata::Decode<perfdata::Exit>(record, *entry.format)) {
        NoteEndOfUnnamed(exit->tid, epoch);
      }
      break;
    default:
      break;
  }
  kernel_.Set(epoch, at_end_.kernel().fingerprint());
  if (const std::optional<std::uint32_t> forgotten = at_end_.forgotten()) {
    NoteSpace(*forgotten, epoch);
  }
}

void ProcessHistory::NoteSpace(std::uint32_t pid, Epoch epoch) {
  if (keeps_regions_) regions_.Note(pid, epoch, at_end_.UserSpace(pid));
  const std::uint64_t fingerprint =
      at_end_.UserSpace(pid).fingerprint() + at_end_.UserCode(pid).fingerprint();
  // No entry for an empty space: at an exec most processes have a record before they map anything.
  const auto known = spaces_.find(pid);
  if (known != spaces_.end()) {
    known->second.Set(epoch, fingerprint);
  } else if (fingerprint != 0) {
    spaces_[pid].Set(epoch, fingerprint);
  }
}

void ProcessHistory::NoteComm(std::uint32_t tid, Epoch epoch) {
  comms_[tid].Set(epoch, at_end_.KnownCommOf(tid));
}

void ProcessHistory::NoteEndOfUnnamed(std::uint32_t tid, Epoch epoch) {
  const auto comm = comms_.find(tid);
  if (comm == comms_.end() || comm->second.empty()) unnamed_until_[tid] = epoch;
}

Epoch ProcessHistory::EpochOf(const SortKey& key, Epoch guess) const {
  assert(state_ == State::kFinished);
  const bool is_behind = guess == 0 || records_[guess - 1].key < key;
  const bool is_before = guess == records_.size() || key < records_[guess].key;
  if (is_behind && is_before) return guess;
  const auto next = std::ranges::lower_bound(records_, key, {}, &ProcessRecord::key);
  return static_cast<Epoch>(next - records_.begin());
}

Epoch ProcessHistory::EpochAfterRecord(Epoch epoch) const {
  return EpochAfterCode(epoch, std::numeric_limits<std::uint64_t>::max()) + 1;
}

Epoch ProcessHistory::EpochAfterCode(Epoch epoch, std::uint64_t time) const {
  const auto is_passed = [&](const ProcessRecord& entry) {
    return entry.code() != nullptr && entry.key.time <= time;
  };
  while (epoch < records_.size() && is_passed(records_[epoch])) ++epoch;
  return epoch;
}

ThreadState ProcessHistory::StateOf(std::uint32_t pid, std::uint32_t tid, Epoch epoch) const {
  const auto kernel = kernel_.At(epoch);
  ThreadState state{.from = kernel.from, .to = kernel.to, .spaces = {.kernel = kernel.value}};
  const auto narrow = [&](const auto& piece) {
    state.from = std::max(state.from, piece.from);
    state.to = std::min(state.to, piece.to);
    return piece.value;
  };
  if (const auto space = spaces_.find(pid); space != spaces_.end()) {
    state.spaces.user = narrow(space->second.At(epoch));
  }
  state.comm = narrow(CommAt(tid, epoch));
  return state;
}

// A thread has the name that it gets later, as in perf report: its COMM replaces the ":TID" of its
// earlier samples (tools/perf/util/thread.c, ____thread__set_comm).
Timeline<const std::string*>::Piece ProcessHistory::CommAt(std::uint32_t tid, Epoch epoch) const {
  const auto comm = comms_.find(tid);
  if (comm == comms_.end()) return {};
  Timeline<const std::string*>::Piece piece = comm->second.At(epoch);
  if (piece.value != nullptr || comm->second.empty()) return piece;
  const auto unnamed = unnamed_until_.find(tid);
  if (unnamed == unnamed_until_.end() || epoch >= unnamed->second) {
    piece.value = comm->second.first();
  } else {
    piece.to = std::min(piece.to, unnamed->second);
  }
  return piece;
}

SpaceFingerprints ProcessHistory::SpacesOf(std::uint32_t pid, Epoch epoch) const {
  const auto space = spaces_.find(pid);
  return {.user = space == spaces_.end() ? 0 : space->second.At(epoch).value,
          .kernel = kernel_.At(epoch).value};
}

const perfdata::Processes& ProcessHistory::Replay::At(Epoch epoch) {
  assert(now_ <= epoch && epoch <= history_.records_.size());
  for (; now_ < epoch; ++now_) {
    const ProcessRecord& entry = history_.records_[now_];
    history_.Apply(entry, processes_);
  }
  return processes_;
}

}  // namespace perftape::convert
