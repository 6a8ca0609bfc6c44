// SPDX-License-Identifier: Apache-2.0
// Finds the event and the time of one record after another. The answers are those of
// EventTable::EventOf and TimeOf, but the offsets of id and time are computed once per event, and
// the last id is cached. Most records have the same id as the record before: a file holds the
// records of one CPU one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/perfdata/event_table.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

class EventLookup {
 public:
  struct Answer {
    const Event* event = nullptr;  // of the EventTable; null for an unknown id
    std::uint64_t time = 0;        // 0 where the record does not say, or its event is unknown
  };

  // `events` must outlive it and stay as it is.
  explicit EventLookup(const EventTable& events);

  Answer Of(const RecordView& record) {
    // Most records are samples, of the event that the one before was of.
    if (record.type != RecordType::kSample || last_ == nullptr) return Find(record);
    const auto word = [&](std::uint8_t index) {
      return LoadFixed<std::uint64_t>(record.payload.data() + index * sizeof(std::uint64_t),
                                      record.order);
    };
    const std::size_t words = record.payload.size() / sizeof(std::uint64_t);
    if (id_in_sample_ && (*id_in_sample_ >= words || word(*id_in_sample_) != last_id_)) {
      return Find(record);
    }
    Answer answer{last_, 0};
    if (last_time_ && *last_time_ < words) answer.time = word(*last_time_);
    return answer;
  }

 private:
  // Words from a record's end, or of a SAMPLE from its beginning; nothing where it is not there.
  using WordIndex = std::optional<std::uint8_t>;
  struct TimeWordIndex {
    WordIndex in_sample, from_end;
  };

  Answer Find(const RecordView& record);
  const Event* FindById(std::uint64_t id);
  void Remember(const Event* event);

  const EventTable& events_;
  std::vector<TimeWordIndex> times_;  // one for each event
  // Of the id, where there are several events: perf demands that all keep it in the same index
  // (evlist__valid_sample_type).
  WordIndex id_in_sample_, id_from_end_;
  std::uint64_t last_id_ = 0;
  const Event* last_ = nullptr;  // of last_id_; of any sample, where they have none
  WordIndex last_time_;          // where its samples have their time
};

}  // namespace perftape::perfdata
