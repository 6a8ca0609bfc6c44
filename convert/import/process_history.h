// SPDX-License-Identifier: Apache-2.0
// Who was who and what was mapped where at any moment of a recording. perfdata::Processes knows it
// for one moment, and goes forth; samples in the order of the file need it for any.
//
// A moment is a number: so many of the recording's process records had come before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/import/turn_clock.h"
#include "convert/model/arena.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {

using Moment = std::uint32_t;

// A value that changes at some moments.
template <class Value>
class Timeline {
 public:
  // What it is in [from, to).
  struct Piece {
    Moment from = 0;
    Moment to = std::numeric_limits<Moment>::max();
    Value value = {};
  };

  // From `moment` on it has this value. Moments come in order.
  void Set(Moment moment, const Value& value) {
    if ((changes_.empty() ? Value{} : changes_.back().value) == value) return;
    if (!changes_.empty() && changes_.back().from == moment) changes_.pop_back();
    changes_.push_back({moment, value});
  }

  Piece At(Moment moment) const {
    const auto next = std::ranges::upper_bound(changes_, moment, {}, &Change::from);
    Piece piece;
    if (next != changes_.end()) piece.to = next->from;
    if (next == changes_.begin()) return piece;
    piece.from = std::prev(next)->from;
    piece.value = std::prev(next)->value;
    return piece;
  }

 private:
  struct Change {
    Moment from = 0;
    Value value = {};
  };
  std::vector<Change> changes_;
};

// AddressSpace::fingerprint() of what is mapped in a process, and in the kernel.
struct SpaceFingerprints {
  std::uint64_t user = 0, kernel = 0;
};

// What a sample's thread has to do with at a moment, and the moments [from, to) for which that
// holds.
struct ThreadState {
  Moment from = 0, to = 0;
  SpaceFingerprints spaces;
  const std::string* comm = nullptr;  // lives as long as the history; null where none is known
};

class ProcessHistory {
 public:
  // The process records. One after the other, as they lie in the file, each with its turn; then
  // Finish. `format`, and a record that is lasting, must outlive the history.
  static bool Takes(perfdata::RecordType type);
  void Take(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
            const Turn& turn);
  // The same for code that a just-in-time compiler has dumped: from `time` on it is there. Before
  // Finish.
  struct Code {
    std::uint32_t pid = 0;
    perfdata::Region range;              // whose dso is not set
    const perfdata::Dso* dso = nullptr;  // must outlive the history
  };
  void TakeCode(const Code& code, std::uint64_t time);
  void Finish();

  // The moment of a turn. Quick where it is `guess`, that of another turn.
  Moment MomentOf(const Turn& turn, Moment guess = 0) const;
  // For those who count the records in time order instead: the moment behind the next record, and
  // that of a sample of `time`.
  Moment PassRecord(Moment moment) const;
  Moment PassCode(Moment moment, std::uint64_t time) const;
  ThreadState StateOf(std::uint32_t pid, std::uint32_t tid, Moment moment) const;
  SpaceFingerprints SpacesOf(std::uint32_t pid, Moment moment) const;
  // The path of a control group, as told last; empty where none is known.
  std::string_view CgroupOf(std::uint64_t id) const { return at_end_.CgroupOf(id); }

  // Goes through the history once more, forth, to look addresses up. The history must outlive it.
  class Replay {
   public:
    explicit Replay(const ProcessHistory& history) : history_(history) {}
    // All processes at a moment that is not before the one asked for last. Valid until the next
    // call.
    const perfdata::Processes& At(Moment moment);

   private:
    const ProcessHistory& history_;
    perfdata::Processes processes_;
    Moment now_ = 0;
  };

 private:
  struct Told {
    Turn turn;
    const std::byte* payload = nullptr;
    const perfdata::SampleFormat* format = nullptr;
    std::uint32_t size = 0;  // of the payload
    perfdata::RecordType type = {};
    std::uint16_t misc = 0;

    const Code* code() const {
      return type == kCodeIsTold ? reinterpret_cast<const Code*>(payload) : nullptr;
    }
  };
  static constexpr perfdata::RecordType kCodeIsTold = perfdata::RecordType{0};  // as no record is

  perfdata::RecordView RecordOf(const Told& told) const;
  void Apply(const Told& told, perfdata::Processes& processes) const;
  void NoteSpace(std::uint32_t pid, Moment moment);
  void NoteComm(std::uint32_t tid, Moment moment);
  void Note(const Told& told, Moment moment);

  std::vector<Told> told_;
  Arena copies_;  // of payloads that would not last
  std::endian order_ = std::endian::native;
  perfdata::Processes at_end_;
  Timeline<std::uint64_t> kernel_;
  std::unordered_map<std::uint32_t, Timeline<std::uint64_t>> spaces_;      // by pid
  std::unordered_map<std::uint32_t, Timeline<const std::string*>> comms_;  // by tid
};

}  // namespace perftape::convert
