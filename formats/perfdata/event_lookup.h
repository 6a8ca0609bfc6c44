// SPDX-License-Identifier: Apache-2.0
// Finds the event and the time of one record after another. The answers are those of
// EventTable::EventOf and TimeOf, but the offsets of id and time are computed once per event, and
// the last id is cached. Most records have the same id as the record before: a file contains the
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
    std::uint64_t time = 0;        // 0 if the record has none, or its event is unknown
  };

  // `events` must outlive the EventLookup and must not change.
  explicit EventLookup(const EventTable& events);

  Answer Of(const RecordView& record) {
    // Most records are samples of the same event as the record before.
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
  // The index of a word: from the end of a record, or from the start of a SAMPLE. Nothing if the
  // record does not have the field.
  using WordIndex = std::optional<std::uint8_t>;
  struct TimeWordIndex {
    WordIndex in_sample, from_end;
  };

  Answer Find(const RecordView& record);
  const Event* FindById(std::uint64_t id);
  void Remember(const Event* event);

  const EventTable& events_;
  std::vector<TimeWordIndex> times_;  // one for each event
  // The index of the id, if there are several events. perf requires that it is the same for all
  // events (evlist__valid_sample_type).
  WordIndex id_in_sample_, id_from_end_;
  std::uint64_t last_id_ = 0;
  const Event* last_ = nullptr;  // the event of last_id_, or of all samples if these have no id
  WordIndex last_time_;          // the index of the time in the samples of last_
};

}  // namespace perftape::perfdata
