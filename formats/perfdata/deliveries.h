// SPDX-License-Identifier: Apache-2.0
// The samples that one SAMPLE record counts for. Usually it counts for one sample of its event,
// with the record's period. A record with counter values (PERF_SAMPLE_READ) counts for each event
// that was read: the growth of the counter is the period, and events that did not grow are left
// out. perf does the same (tools/perf/util/session.c, evlist__deliver_sample), so totals agree with
// perf's.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

struct Delivery {
  const Event* event = nullptr;  // of the EventTable
  std::uint64_t period = 0;
};

// Remembers the last value of each counter, so it needs all samples in time order.
class Deliveries {
 public:
  // `events` must outlive the Deliveries.
  explicit Deliveries(const EventTable& events) : events_(events) {}

  // The deliveries of `sample`, a record of `event`. Empty if no counter grew. Valid until the next
  // call.
  std::span<const Delivery> Of(const Sample& sample, const Event& event);

 private:
  void AddGrowth(std::uint64_t id, std::uint64_t value);

  const EventTable& events_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_values_;  // by id
  std::vector<Delivery> found_;
};

}  // namespace perftape::perfdata
