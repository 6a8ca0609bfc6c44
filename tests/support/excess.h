// SPDX-License-Identifier: Apache-2.0
// Makes records as the kernel writes them if several events listen: the sizes in their headers
// include bytes behind the trailer (formats/perfdata/kernel_size.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// An old byte of the ring: neither an id of an event nor a time of the recording.
inline constexpr std::byte kOldRingByte{0x5a};

template <class Record>
std::vector<std::byte> RecordWithExcess(const Record& value, const SampleId& trailer,
                                        const SampleFormat& format, std::size_t excess,
                                        std::byte old = kOldRingByte) {
  std::vector<std::byte> record;
  const Status status = Encode(value, trailer, format, 0, record);
  if (!status) throw std::runtime_error(status.error().message);
  record.resize(record.size() + excess, old);
  const auto size = static_cast<std::uint16_t>(record.size());
  std::memcpy(record.data() + offsetof(RecordHeader, size), &size, sizeof size);
  return record;
}

}  // namespace perftape::perfdata
