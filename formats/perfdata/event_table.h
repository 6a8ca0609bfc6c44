// SPDX-License-Identifier: Apache-2.0
// The events of a perf.data, and the event that each record belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

class EventTable {
 public:
  void Add(Event event);
  void AddId(std::size_t index, std::uint64_t id);

  std::span<const Event> all() const { return events_; }
  Event& operator[](std::size_t index) { return events_[index]; }
  const Event& operator[](std::size_t index) const { return events_[index]; }
  std::size_t size() const { return events_.size(); }

  // The event of an id, or null for an unknown id. The first event for id 0, because perf assigns
  // synthesized records to it, and if there is only one event.
  const Event* FindById(std::uint64_t id) const;
  // Whether an event has this id.
  bool HasId(std::uint64_t id) const { return by_id_.contains(id); }
  // The index of an event in all().
  std::size_t IndexOf(const Event& event) const {
    return static_cast<std::size_t>(&event - events_.data());
  }

  // The event that a record belongs to. If there are several events, IDENTIFIER or ID selects it.
  // Tool records belong to the first event. Null for an unknown id.
  const Event* EventOf(const RecordView& record) const;

 private:
  std::vector<Event> events_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
};

}  // namespace perftape::perfdata
