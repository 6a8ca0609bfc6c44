// SPDX-License-Identifier: Apache-2.0
// Converts a record of any file into one that can be written: in native byte order, padded to whole
// words, and in the format of the event that it belongs to in the new file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// How to write callchains whose user half is in a CALLCHAIN_DEFERRED record.
enum class DeferredChains : std::uint8_t {
  kKeep,
  // Remove PERF_CONTEXT_USER_DEFERRED, because perf before 6.19 discards a whole chain with it.
  kCut,
};

struct RecordTarget {
  // The format in the new file. Fields that it does not have are removed. Null keeps the format.
  const SampleFormat* format = nullptr;
  DeferredChains deferred_chains = DeferredChains::kKeep;
};

// Appends the record to `out`. A record in native order with an unchanged format is copied, and
// only padded at its end. Any other record is decoded and encoded again. That removes the bytes
// after its known fields and the padding of names. RAW, STACK_USER and AUX keep the byte order of
// the recording machine, because their types are unknown.
//
// `format` is null for a record of an unknown event. kUnsupported for a record in foreign order if
// its event is unknown, or if its type has no struct. kTruncated for a record that is shorter than
// its fields and has to be encoded again. kInvalidArgument if the new record is larger than
// kMaxRecordSize. After an error, nothing is appended.
Status Transcode(const RecordView& record, const SampleFormat* format, const RecordTarget& target,
                 std::vector<std::byte>& out);

}  // namespace perftape::perfdata
