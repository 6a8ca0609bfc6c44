// SPDX-License-Identifier: Apache-2.0
// Which event a record belongs to and when it happened, for one record after another: what
// EventTable::EventOf and TimeOf answer. But where in a record id and time lie is worked out once,
// and the id that was looked for last is remembered: records lie in a file as they were drained,
// those of one CPU, which have one id, one behind the other.
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
    const auto word = [&](std::uint8_t place) {
      return LoadFixed<std::uint64_t>(record.payload.data() + place * sizeof(std::uint64_t),
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
  using Place = std::optional<std::uint8_t>;
  struct TimePlace {
    Place in_sample, from_end;
  };

  Answer Find(const RecordView& record);
  const Event* FindById(std::uint64_t id);
  void Remember(const Event* event);

  const EventTable& events_;
  std::vector<TimePlace> times_;  // one for each event
  // Of the id, where there are several events: perf demands that all keep it in the same place
  // (evlist__valid_sample_type).
  Place id_in_sample_, id_from_end_;
  std::uint64_t last_id_ = 0;
  const Event* last_ = nullptr;  // of last_id_; of any sample, where they have none
  Place last_time_;              // where its samples have their time
};

}  // namespace perftape::perfdata
