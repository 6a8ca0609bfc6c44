// SPDX-License-Identifier: Apache-2.0
// A sample as the kernel side sends it (bpf/wire.h) becomes a SAMPLE record as perf writes them.
// No length in a message is believed.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/events/event_ids.h"

namespace perftape::record {

// Keeps a buffer between calls; not thread-safe.
class WireDecoder {
 public:
  // `ids` must outlive it. Event N of the wire is event N there. `user_limit` is the first address
  // that is not user space's (UserAddressLimit).
  WireDecoder(const EventIds& ids, const perfdata::SampleFormat& format, std::uint64_t user_limit)
      : ids_(ids), format_(format), user_limit_(user_limit) {}

  // Appends the record of one message to `out`, and returns its time in nanoseconds. kCorrupt, and
  // nothing appended, where the message contradicts itself: the sample is lost then, and the caller
  // counts it.
  //
  // The callchain is, leaf first: PERF_CONTEXT_KERNEL and the kernel frames (in a sample taken
  // there), PERF_CONTEXT_USER and the user frames. It always opens with the mode that was sampled
  // and an address. Frame-pointer walks through code without frame pointers end in whatever the
  // register held: user frames are taken up to the first that is 0 or no user address, since perf
  // and hotspot drop a whole chain for one entry that looks like an unknown context marker.
  Result<std::uint64_t> Append(Bytes message, std::vector<std::byte>& out);

 private:
  void AppendFrames(WordArray frames, std::uint64_t limit);

  const EventIds& ids_;
  perfdata::SampleFormat format_;
  std::uint64_t user_limit_;
  std::vector<std::uint64_t> chain_;
};

}  // namespace perftape::record
