// SPDX-License-Identifier: Apache-2.0
// The last seconds of a recording, in memory: encoded records by round, and the state of all
// processes at the oldest of them. A round whose records are too old is applied to the state and
// dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record_cursor.h"
#include "record/output/seam_state.h"
#include "record/symbols/build_ids.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/jit_files.h"

namespace perftape::record {

struct FlightLimits {
  std::uint64_t span_ns = 0;
  std::uint64_t bytes = 0;
};

// The records of one drain, in order of time, with a FINISHED_ROUND at the end. It does not change
// once it is complete, so another thread may write it to a file.
struct FlightRound {
  explicit FlightRound(HitFiles hit_files) : files(std::move(hit_files)) {}

  std::vector<std::byte> records = {};
  std::uint64_t samples = 0;
  std::uint64_t first_sample_ns = 0, last_sample_ns = 0;
  std::uint64_t end_ns = 0;                    // no record is later
  bundle::RecordingNotes notes_before = {};    // of the recording until the round
  std::vector<const perfdata::Dso*> hit = {};  // the binaries that the samples hit
  HitFiles files;                              // the same, open
  std::set<std::uint32_t> jit_processes = {};  // that samples hit in memory without a file
};

// What is written to a file. The vectors are in order of time.
struct FlightContents {
  std::vector<std::byte> state;  // initial records, of the time before the first round
  std::vector<std::shared_ptr<const FlightRound>> rounds;
  std::vector<const perfdata::Dso*> hit;  // each once
  HitFiles files;
  JitFiles jit;
  bundle::RecordingNotes notes_before;
  std::uint64_t samples = 0;
  perfdata::SampleTime sample_time = {};
  std::uint64_t kept_ns = 0;        // how long before the end everything is kept
  bool is_short_of_memory = false;  // FlightLimits::bytes dropped rounds that were young enough
};

// Not thread-safe.
class FlightBuffer {
 public:
  // `most_open` is the limit of HitFiles for all rounds together. `others` opens files of JIT
  // compilers.
  FlightBuffer(const perfdata::SampleFormat& format, const FlightLimits& limits,
               std::size_t most_open, std::shared_ptr<OthersFiles> others);

  // The records of the start of the recording.
  Status ApplyInitialState(Bytes records);

  // Own the files that samples of the current round hit. EndRound replaces them.
  HitKeepers keepers() { return {.files = &current_->files, .jit = &jit_}; }
  // Adds a record, in order of time; `bytes` are all of it.
  void Add(const perfdata::RecordView& record, Bytes bytes);
  // Whether the round should end before more records are added.
  bool IsRoundFull() const;
  // Whether the round is long enough to end. Busy rings are drained more often.
  bool IsRoundDue(std::uint64_t now_ns) const { return now_ns >= end_ns_ + kShortestRoundNs; }
  // Completes the round: `hit` are the binaries that its samples hit, `notes` are those of the
  // recording until now, and all following records are later than `end_ns`. Drops the oldest rounds
  // that exceed the limits. Fails if a dropped record is damaged.
  Status EndRound(std::span<const perfdata::Dso* const> hit, bundle::RecordingNotes notes,
                  std::uint64_t end_ns);

  // Returns what the complete rounds have.
  Result<FlightContents> Contents() const;

  // The binaries that the samples of the complete rounds hit, each once.
  std::vector<const perfdata::Dso*> HitDsos() const;

  // The samples of dropped rounds, by the id of their event, and their number.
  const std::map<std::uint64_t, std::uint64_t>& dropped_by_id() const { return dropped_by_id_; }
  std::uint64_t dropped_samples() const { return dropped_samples_; }
  // The memory of the rounds, estimated.
  std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::uint64_t kShortestRoundNs = 200'000'000;

  void StartRound();
  Status DropOldest();
  void Forget(const perfdata::RecordView& record);
  static std::uint64_t SizeOf(const FlightRound& round);

  perfdata::SampleFormat format_;
  FlightLimits limits_;
  std::size_t most_open_;
  std::shared_ptr<HitPool> pool_ = std::make_shared<HitPool>();
  JitFiles jit_;
  SeamState state_;
  std::deque<std::shared_ptr<const FlightRound>> rounds_;
  std::shared_ptr<FlightRound> current_;
  bundle::RecordingNotes last_notes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t start_ns_ = 0;  // the end of the last dropped round, or of the time before all
  std::uint64_t end_ns_ = 0;    // of the last complete round
  bool is_short_of_memory_ = false;
  std::map<std::uint64_t, std::uint64_t> dropped_by_id_;
  std::uint64_t dropped_samples_ = 0;
};

}  // namespace perftape::record
