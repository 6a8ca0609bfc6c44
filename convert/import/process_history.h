// SPDX-License-Identifier: Apache-2.0
// The names and mappings of all processes at any time of a recording. perfdata::Processes has them
// for one time only, and only moves forward. Samples in file order need them at any time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/import/round_clock.h"
#include "convert/model/arena.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {

// A time in a recording: the number of process records that precede it in time order.
using Epoch = std::uint32_t;

// What was mapped in each process at any time of a recording. Samples whose stacks are unwound need
// it in file order, which is not time order. Memory grows with the number of mappings.
class RegionHistory {
 public:
  // Notes what a process has mapped from `epoch` on. Epochs must not decrease from call to call.
  // The dsos must outlive this object.
  void Note(std::uint32_t pid, Epoch epoch, const perfdata::AddressSpace& space);

  // Returns what the process has mapped at an epoch, sorted by address.
  std::vector<perfdata::Region> At(std::uint32_t pid, Epoch epoch) const;

 private:
  // A mapped region, in the epochs [from, to).
  struct Lifetime {
    perfdata::Region region;
    Epoch from = 0, to = 0;
  };
  struct Process {
    std::vector<Lifetime> ended;
    std::vector<Lifetime> mapped;  // at the last Note, sorted by address; `to` is not set
    std::uint64_t fingerprint = 0;
  };

  std::unordered_map<std::uint32_t, Process> processes_;  // by pid
};

// A value that changes with the epoch.
template <class Value>
class Timeline {
 public:
  // A value, valid for the epochs [from, to).
  struct Piece {
    Epoch from = 0;
    Epoch to = std::numeric_limits<Epoch>::max();
    Value value = {};
  };

  // Sets the value from `epoch` on. Epochs must not decrease from call to call.
  void Set(Epoch epoch, const Value& value) {
    if ((changes_.empty() ? Value{} : changes_.back().value) == value) return;
    if (!changes_.empty() && changes_.back().from == epoch) changes_.pop_back();
    changes_.push_back({epoch, value});
  }

  bool empty() const { return changes_.empty(); }
  // The first value that was set. The timeline must not be empty.
  const Value& first() const { return changes_.front().value; }

  Piece At(Epoch epoch) const {
    const auto next = std::ranges::upper_bound(changes_, epoch, {}, &Change::from);
    Piece piece;
    if (next != changes_.end()) piece.to = next->from;
    if (next == changes_.begin()) return piece;
    piece.from = std::prev(next)->from;
    piece.value = std::prev(next)->value;
    return piece;
  }

 private:
  struct Change {
    Epoch from = 0;
    Value value = {};
  };
  std::vector<Change> changes_;
};

// AddressSpace::fingerprint() of a process and of the kernel. Equal if the same files are mapped.
struct SpaceFingerprints {
  std::uint64_t user = 0, kernel = 0;
};

// The state of a thread, valid for the epochs [from, to).
struct ThreadState {
  Epoch from = 0, to = 0;
  SpaceFingerprints spaces;
  const std::string* comm = nullptr;  // valid as long as the history; null if unknown
};

class ProcessHistory {
 public:
  // Returns whether records of this type change names or mappings. Add needs all of these.
  static bool IsProcessRecord(perfdata::RecordType type);

  // Adds a process record. The payload is copied unless the record is lasting. `format` and a
  // lasting payload must outlive the history. All Add calls come before Finish.
  void Add(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
           const SortKey& key);
  // Adds JIT code, which is mapped from `time` on.
  struct Code {
    std::uint32_t pid = 0;
    perfdata::Region range;              // its dso is not set
    const perfdata::Dso* dso = nullptr;  // must outlive the history
  };
  void AddCode(const Code& code, std::uint64_t time);
  // From now on, keeps what RegionsOf returns. Call it before Finish.
  void KeepRegions() { keeps_regions_ = true; }
  // Sorts the records. The queries below need this.
  void Finish();

  // Returns the epoch of a record with this key. Fast if it is `guess`, the epoch of a nearby
  // record.
  Epoch EpochOf(const SortKey& key, Epoch guess = 0) const;
  // For readers in time order: the epoch after the process record that follows `epoch`, and the
  // epoch of a sample at `time`.
  Epoch EpochAfterRecord(Epoch epoch) const;
  Epoch EpochAfterCode(Epoch epoch, std::uint64_t time) const;
  ThreadState StateOf(std::uint32_t pid, std::uint32_t tid, Epoch epoch) const;
  // Returns the comm of ThreadState.
  const std::string* CommOf(std::uint32_t tid, Epoch epoch) const {
    return CommAt(tid, epoch).value;
  }
  SpaceFingerprints SpacesOf(std::uint32_t pid, Epoch epoch) const;
  // Returns what a process has mapped at an epoch, without compiled code, sorted by address. Empty
  // without KeepRegions. The dsos live as long as the history.
  std::vector<perfdata::Region> RegionsOf(std::uint32_t pid, Epoch epoch) const {
    return regions_.At(pid, epoch);
  }
  // Returns the path of a control group at the end of the recording; empty if unknown.
  std::string_view CgroupOf(std::uint64_t id) const { return at_end_.CgroupOf(id); }
  // Returns the paths that were used by several files whose mappings have no build id.
  std::set<std::string, std::less<>> PathsOfSeveralFiles() const {
    return at_end_.PathsOfSeveralFiles();
  }

  // Applies the records again, in time order, to look up addresses. The history must outlive it.
  class Replay {
   public:
    explicit Replay(const ProcessHistory& history) : history_(history) {}
    // Returns all processes at an epoch, which must not decrease from call to call. The result is
    // always the same object, and the next call changes it.
    const perfdata::Processes& At(Epoch epoch);

   private:
    const ProcessHistory& history_;
    perfdata::Processes processes_;
    Epoch now_ = 0;
  };

 private:
  struct ProcessRecord {
    SortKey key;
    const std::byte* payload = nullptr;
    const perfdata::SampleFormat* format = nullptr;
    std::uint32_t size = 0;  // of the payload
    perfdata::RecordType type = {};
    std::uint16_t misc = 0;

    const Code* code() const {
      return type == kJitCode ? reinterpret_cast<const Code*>(payload) : nullptr;
    }
  };
  static constexpr perfdata::RecordType kJitCode = perfdata::RecordType{0};  // of no record

  perfdata::RecordView RecordOf(const ProcessRecord& entry) const;
  void Apply(const ProcessRecord& entry, perfdata::Processes& processes) const;
  Timeline<const std::string*>::Piece CommAt(std::uint32_t tid, Epoch epoch) const;
  void NoteSpace(std::uint32_t pid, Epoch epoch);
  void NoteComm(std::uint32_t tid, Epoch epoch);
  // Call it before NoteComm, if the record ends a thread or starts one.
  void NoteEndOfUnnamed(std::uint32_t tid, Epoch epoch);
  void Note(const ProcessRecord& entry, Epoch epoch);

  enum class State : std::uint8_t { kAdding, kFinished };
  State state_ = State::kAdding;
  std::vector<ProcessRecord> records_;  // in time order after Finish
  Arena copies_;                        // payloads that are not lasting
  std::endian order_ = std::endian::native;
  perfdata::Processes at_end_;
  bool keeps_regions_ = false;
  RegionHistory regions_;
  Timeline<std::uint64_t> kernel_;
  std::unordered_map<std::uint32_t, Timeline<std::uint64_t>> spaces_;      // by pid
  std::unordered_map<std::uint32_t, Timeline<const std::string*>> comms_;  // by tid
  // Until when the tid belonged to threads that never had a name.
  std::unordered_map<std::uint32_t, Epoch> unnamed_until_;
};

}  // namespace perftape::convert
