// SPDX-License-Identifier: Apache-2.0
#include "convert/import/plain_sample.h"

#include <bit>

namespace perftape {

PlainSampleReader::PlainSampleReader(const perfdata::SampleFormat& format) {
  // In the order of perf_output_sample (kernel/events/core.c).
  struct Field {
    perfdata::SampleBit bit;
    std::uint8_t* place;
  };
  std::uint8_t unused = 0;
  const Field fields[] = {{perfdata::kIdentifier, &unused}, {perfdata::kIp, &ip_},
                          {perfdata::kTid, &tid_},          {perfdata::kTime, &time_},
                          {perfdata::kAddr, &unused},       {perfdata::kId, &unused},
                          {perfdata::kStreamId, &unused},   {perfdata::kCpu, &cpu_},
                          {perfdata::kPeriod, &period_},    {perfdata::kCallchain, &chain_}};
  std::uint64_t known = 0;
  for (const Field& field : fields) {
    known |= field.bit;
    if (format.Has(field.bit)) *field.place = fixed_words_++;
  }
  is_plain_ = (format.sample_type & ~known) == 0;
}

}  // namespace perftape
