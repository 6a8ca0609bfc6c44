// SPDX-License-Identifier: Apache-2.0
// Completes the samples whose values are not in their own fields, as perf does when it reads them:
//
//  * Since Linux 6.19 a sample may end its callchain in PERF_CONTEXT_USER_DEFERRED and a cookie.
//    The user frames are in a CALLCHAIN_DEFERRED record of the same thread with the same cookie,
//    written when the thread returned to user mode (tools/perf/util/session.c,
//    evlist__deliver_deferred_callchain).
//  * Since Linux 6.16 the off-CPU samples of perf have their values in RAW (off_cpu_raw.h).
//
// A completed sample has its values in the fields in which older versions of perf had them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/perfdata/event_table.h"
#include "formats/perfdata/off_cpu_raw.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

class SampleCompletion {
 public:
  // Whether samples of these events have to be completed.
  static bool IsNeeded(const EventTable& events);
  // The same before the names of events are known, for the head of a stream.
  static bool MayBeNeeded(const EventTable& events);

  // Reads all records once, in time order. The reader must not be a stream. Its events must outlive
  // this object. Memory grows with the number of samples with a deferred callchain, and with the
  // distinct user callchains.
  explicit SampleCompletion(const Reader& reader);

  // Whether Complete may change samples of the event.
  bool Changes(const Event& event) const { return is_changed_[events_.IndexOf(event)]; }

  // The attribute of the event for completed samples.
  static EventAttr CompletedAttr(const Event& event);

  // The time of a record. It is that of the last record of the recording for a sum of off-CPU
  // times, which has no time.
  std::uint64_t TimeOf(std::uint64_t recorded_time) const {
    return recorded_time < kFirstOffCpuSumTime || !has_off_cpu_raw_ ? recorded_time : last_time_;
  }

  enum class Outcome : std::uint8_t {
    kWhole,
    kWithoutUserFrames,  // the record with the user frames is not in the file
  };
  // Completes `sample`, the value of `record`, and sets the cpu mode in record.misc. `chain` holds
  // the new callchain, so it must live as long as the sample. record.is_lasting becomes false if
  // the callchain is not in the file.
  Outcome Complete(RecordView& record, const Event& event, Sample& sample,
                   std::vector<std::byte>& chain) const;

 private:
  // Identifies a record of the file.
  struct Position {
    std::uint64_t file_offset = 0;
    std::uint32_t part = 0;
    std::int32_t inside = -1;
    auto operator<=>(const Position&) const = default;
  };
  struct UserFrames {
    Position sample;
    const std::string* words = nullptr;  // of user_chains_
  };
  struct Held {
    std::uint64_t cookie = 0;
    Position sample;
    std::size_t room = 0;  // the number of user words that fit into the sample's record
  };

  static Position PositionOf(const RecordView& record) {
    return {record.file_offset, record.part, record.inside};
  }
  void Hold(const RecordView& record, const Event& event);
  void Release(const RecordView& record, const Event& event);
  const std::string* AddChain(const WordArray& chain, std::size_t room);

  const EventTable& events_;
  std::vector<bool> is_changed_;  // by event
  bool has_off_cpu_raw_ = false;
  std::uint64_t last_time_ = 0;
  std::unordered_map<std::uint32_t, std::vector<Held>> held_;  // by tid; only while reading
  std::unordered_set<std::string> user_chains_;                // in the file's byte order
  std::vector<UserFrames> user_frames_;                        // sorted by position
};

}  // namespace perftape::perfdata
