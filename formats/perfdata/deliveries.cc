// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/deliveries.h"

#include <bit>

namespace perftape::perfdata {
namespace {

bool HasBit(std::uint64_t read_format, ReadBit bit) {
  return (read_format & bit) != 0;
}

// The number of words of the two times in a READ block.
std::size_t TimeWords(std::uint64_t read_format) {
  return static_cast<std::size_t>(
      std::popcount(read_format & (kReadTotalTimeEnabled | kReadTotalTimeRunning)));
}

}  // namespace

std::span<const Delivery> Deliveries::Of(const Sample& sample, const Event& event) {
  found_.clear();
  const SampleFormat& format = event.format;
  if (!format.Has(kRead)) {
    // Without PERF_SAMPLE_PERIOD, perf uses sample_period of the attribute, even if it is a
    // frequency (evsel__parse_sample).
    found_.push_back({&event, format.Has(kPeriod) ? sample.period : event.attr.sample_period});
    return found_;
  }
  const WordArray& read = sample.read;
  const std::size_t times = TimeWords(format.read_format);
  const bool has_id = HasBit(format.read_format, kReadId);
  if (!HasBit(format.read_format, kReadGroup)) {
    // { value, [time_enabled], [time_running], [id], [lost] }
    if (has_id && read.size() > 1 + times) AddGrowth(read[1 + times], read[0]);
    return found_;
  }
  // { nr, [time_enabled], [time_running], { value, [id], [lost] }[nr] }
  if (!has_id) return found_;
  const std::size_t stride = HasBit(format.read_format, kReadLost) ? 3 : 2;
  for (std::size_t at = 1 + times; at + stride <= read.size(); at += stride) {
    AddGrowth(read[at + 1], read[at]);
  }
  return found_;
}

void Deliveries::AddGrowth(std::uint64_t id, std::uint64_t value) {
  const Event* event = id == 0 ? nullptr : events_.FindById(id);
  if (event == nullptr) return;
  std::uint64_t& last = last_values_[id];
  const std::uint64_t growth = value - last;
  last = value;
  if (growth != 0) found_.push_back({event, growth});
}

}  // namespace perftape::perfdata
