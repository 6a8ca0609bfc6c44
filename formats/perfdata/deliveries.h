// SPDX-License-Identifier: Apache-2.0
// What one SAMPLE record counts for. Usually that is one sample of its event with the period in it.
// But a record that carries counter values (PERF_SAMPLE_READ) counts for each event that was read,
// with the growth of its counter as the period, and not at all for those that did not grow: so perf
// does (tools/perf/util/session.c, evlist__deliver_sample), and so all totals are perf's.
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

// Remembers the last value of each counter: give it all samples, in time order.
class Deliveries {
 public:
  // `events` must outlive it.
  explicit Deliveries(const EventTable& events) : events_(events) {}

  // What `sample`, a record of `event`, counts for; none where no counter grew. Valid until the
  // next call.
  std::span<const Delivery> Of(const Sample& sample, const Event& event);

 private:
  void AddGrowth(std::uint64_t id, std::uint64_t value);

  const EventTable& events_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_values_;  // by id
  std::vector<Delivery> found_;
};

}  // namespace perftape::perfdata
