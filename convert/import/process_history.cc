// SPDX-License-Identifier: Apache-2.0
#include "convert/import/process_history.h"

#include <cassert>
#include <optional>

namespace perftape::convert {

using perfdata::RecordType;

bool ProcessHistory::Takes(RecordType type) {
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

void ProcessHistory::Take(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                          const Turn& turn) {
  const Bytes payload = record.is_lasting ? record.payload : copies_.Copy(record.payload);
  order_ = record.order;
  told_.push_back({.turn = turn,
                   .payload = payload.data(),
                   .format = &format,
                   .size = static_cast<std::uint32_t>(payload.size()),
                   .type = record.type,
                   .misc = record.misc});
}

void ProcessHistory::TakeCode(const Code& code, std::uint64_t time) {
  const std::span<const Code> copy = copies_.Copy(std::span(&code, 1));
  // The first of its time: what was sampled then may be this code.
  told_.push_back({.turn = {.time = time, .number = 0},
                   .payload = reinterpret_cast<const std::byte*>(copy.data()),
                   .type = kCodeIsTold});
}

void ProcessHistory::Finish() {
  assert(told_.size() < std::numeric_limits<Moment>::max());
  std::ranges::stable_sort(told_, {}, &Told::turn);
  for (Moment moment = 0; moment < told_.size();) {
    const Told& told = told_[moment];
    Apply(told, at_end_);
    Note(told, ++moment);
  }
}

void ProcessHistory::Apply(const Told& told, perfdata::Processes& processes) const {
  if (const Code* code = told.code()) {
    processes.MapCode(code->pid, code->range, *code->dso);
  } else {
    processes.Apply(RecordOf(told), *told.format);
  }
}

perfdata::RecordView ProcessHistory::RecordOf(const Told& told) const {
  return {.type = told.type,
          .misc = told.misc,
          .payload = Bytes(told.payload, told.size),
          .order = order_};
}

// What the record has changed, from this moment on.
void ProcessHistory::Note(const Told& told, Moment moment) {
  if (const Code* code = told.code()) return NoteSpace(code->pid, moment);
  const perfdata::RecordView record = RecordOf(told);
  switch (told.type) {
    case RecordType::kMmap:
      if (const auto mmap = perfdata::Decode<perfdata::Mmap>(record, *told.format)) {
        NoteSpace(mmap->pid, moment);
      }
      break;
    case RecordType::kMmap2:
      if (const auto mmap = perfdata::Decode<perfdata::Mmap2>(record, *told.format)) {
        NoteSpace(mmap->pid, moment);
      }
      break;
    case RecordType::kComm:
      if (const auto comm = perfdata::Decode<perfdata::Comm>(record, *told.format)) {
        NoteSpace(comm->pid, moment);
        NoteComm(comm->tid, moment);
      }
      break;
    case RecordType::kFork:
      if (const auto fork = perfdata::Decode<perfdata::Fork>(record, *told.format)) {
        NoteSpace(fork->pid, moment);
        NoteComm(fork->tid, moment);
      }
      break;
    default:
      break;
  }
  kernel_.Set(moment, at_end_.kernel().fingerprint());
  if (const std::optional<std::uint32_t> forgotten = at_end_.forgotten()) {
    NoteSpace(*forgotten, moment);
  }
}

void ProcessHistory::NoteSpace(std::uint32_t pid, Moment moment) {
  const std::uint64_t fingerprint =
      at_end_.UserSpace(pid).fingerprint() + at_end_.UserCode(pid).fingerprint();
  // Most processes that exec tell so before they have mapped anything.
  const auto known = spaces_.find(pid);
  if (known != spaces_.end()) {
    known->second.Set(moment, fingerprint);
  } else if (fingerprint != 0) {
    spaces_[pid].Set(moment, fingerprint);
  }
}

void ProcessHistory::NoteComm(std::uint32_t tid, Moment moment) {
  comms_[tid].Set(moment, at_end_.KnownCommOf(tid));
}

Moment ProcessHistory::MomentOf(const Turn& turn, Moment guess) const {
  const bool is_behind = guess == 0 || told_[guess - 1].turn < turn;
  const bool is_before = guess == told_.size() || turn < told_[guess].turn;
  if (is_behind && is_before) return guess;
  const auto next = std::ranges::lower_bound(told_, turn, {}, &Told::turn);
  return static_cast<Moment>(next - told_.begin());
}

Moment ProcessHistory::PassRecord(Moment moment) const {
  return PassCode(moment, std::numeric_limits<std::uint64_t>::max()) + 1;
}

Moment ProcessHistory::PassCode(Moment moment, std::uint64_t time) const {
  const auto is_passed = [&](const Told& told) {
    return told.code() != nullptr && told.turn.time <= time;
  };
  while (moment < told_.size() && is_passed(told_[moment])) ++moment;
  return moment;
}

ThreadState ProcessHistory::StateOf(std::uint32_t pid, std::uint32_t tid, Moment moment) const {
  const auto kernel = kernel_.At(moment);
  ThreadState state{.from = kernel.from, .to = kernel.to, .spaces = {.kernel = kernel.value}};
  const auto narrow = [&](const auto& piece) {
    state.from = std::max(state.from, piece.from);
    state.to = std::min(state.to, piece.to);
    return piece.value;
  };
  if (const auto space = spaces_.find(pid); space != spaces_.end()) {
    state.spaces.user = narrow(space->second.At(moment));
  }
  if (const auto comm = comms_.find(tid); comm != comms_.end()) {
    state.comm = narrow(comm->second.At(moment));
  }
  return state;
}

SpaceFingerprints ProcessHistory::SpacesOf(std::uint32_t pid, Moment moment) const {
  const auto space = spaces_.find(pid);
  return {.user = space == spaces_.end() ? 0 : space->second.At(moment).value,
          .kernel = kernel_.At(moment).value};
}

const perfdata::Processes& ProcessHistory::Replay::At(Moment moment) {
  assert(now_ <= moment && moment <= history_.told_.size());
  for (; now_ < moment; ++now_) {
    const Told& told = history_.told_[now_];
    history_.Apply(told, processes_);
  }
  return processes_;
}

}  // namespace perftape::convert
