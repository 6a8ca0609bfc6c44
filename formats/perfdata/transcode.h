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

// What readers of the new file make of chains whose user half is in a CALLCHAIN_DEFERRED record.
enum class DeferredChains : std::uint8_t {
  kKeep,
  kCut,  // perf before 6.19 throws the whole chain away for PERF_CONTEXT_USER_DEFERRED
};

struct RecordTarget {
  // May have fewer fields than the record's own, which are left out; null for all of them.
  const SampleFormat* format = nullptr;
  DeferredChains deferred_chains = DeferredChains::kKeep;
};

// Appends the record to `out`. In native order and the same shape its bytes stay as they are, but
// for padding at its end. Otherwise its value is written anew: then what no value has (bytes behind
// its known fields, the padding of names) is lost; RAW, STACK_USER and AUX stay in the byte order
// of the machine that recorded, as they are of its own types.
//
// `format` is null for a record of no known event. kUnsupported for one in foreign order whose
// event is not known, or whose type has no value; kTruncated for one that is shorter than what it
// says it holds and would have to be written anew; kInvalidArgument where the new one would be
// larger than a record can be. Nothing is appended then.
Status Transcode(const RecordView& record, const SampleFormat* format, const RecordTarget& target,
                 std::vector<std::byte>& out);

}  // namespace perftape::perfdata
