// SPDX-License-Identifier: Apache-2.0
// A fast reader for samples that contain only one-word fields and a callchain, like those of most
// recordings. The offset of each field is computed once per event. Reading a sample then costs one
// load for each field.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

class PlainSampleReader {
 public:
  explicit PlainSampleReader(const SampleFormat& format);

  // Whether the event's samples are plain. For others use DecodeSample.
  bool is_plain() const { return is_plain_; }

  // Sets ip, pid, tid, time, addr, cpu, period and callchain to the values of DecodeSample. The
  // other fields do not change. Returns false if DecodeSample would fail.
  bool Read(const RecordView& record, Sample& sample) const {
    const Bytes bytes = record.payload;
    const std::size_t words = bytes.size() / kWordSize;
    if (words < fixed_words_) return false;
    const auto word = [&](std::uint8_t index) {
      return index == kNone
                 ? 0
                 : LoadFixed<std::uint64_t>(bytes.data() + index * kWordSize, record.order);
    };
    const auto half = [&](std::uint8_t index, std::size_t which) {
      return index == kNone ? 0
                            : LoadFixed<std::uint32_t>(
                                  bytes.data() + index * kWordSize + which * sizeof(std::uint32_t),
                                  record.order);
    };
    sample.ip = word(ip_);
    sample.pid = half(tid_, 0);
    sample.tid = half(tid_, 1);
    sample.time = word(time_);
    sample.addr = word(addr_);
    sample.cpu = half(cpu_, 0);
    sample.period = word(period_);
    const std::uint64_t count = word(chain_);
    if (count > words - fixed_words_) return false;
    if (count == 0) {
      sample.callchain = {};
      return true;
    }
    sample.callchain =
        WordArray(bytes.subspan(fixed_words_ * kWordSize, count * kWordSize), record.order);
    return true;
  }

 private:
  static constexpr std::uint8_t kNone = 0xff;

  bool is_plain_ = false;
  std::uint8_t ip_ = kNone, tid_ = kNone, time_ = kNone, addr_ = kNone, cpu_ = kNone;
  std::uint8_t period_ = kNone;
  std::uint8_t chain_ = kNone;    // the count of the callchain's words, which follow it
  std::uint8_t fixed_words_ = 0;  // the number of words up to the callchain, with its count
};

}  // namespace perftape::perfdata
