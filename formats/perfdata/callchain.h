// SPDX-License-Identifier: Apache-2.0
// The frames of a sample's callchain, without the context markers. Each frame has the cpu mode that
// the marker before it names. If the hardware recorded calls in the branch stack (perf record
// --call-graph lbr), the user frames come from there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// Whether a frame's address is that of the instruction itself, or the one behind a call.
enum class FoundBy : std::uint8_t { kInstruction, kReturnAddress };

struct ChainFrame {
  std::uint64_t address = 0;
  CpuMode mode = CpuMode::kUnknown;
  FoundBy found_by = FoundBy::kInstruction;
};

// Whether the user's frames of this event's samples are in the branch stack
// (PERF_SAMPLE_BRANCH_CALL_STACK).
bool HasBranchCallStack(const SampleFormat& format);

class CallchainReader {
 public:
  // The frames of `sample`, leaf first, valid until the next call. `mode` is that of its record:
  // that of entries before the first marker. They end at a marker that is not known, which is no
  // marker but garbage that a frame-pointer walk came upon; the user's part that was put off
  // (USER_DEFERRED) is not there either.
  std::span<const ChainFrame> FramesOf(const Sample& sample, const SampleFormat& format,
                                       CpuMode mode);

  // Whether the last chain had a marker that is not known. perf throws such a chain away
  // (tools/perf/util/machine.c, add_callchain_ip).
  bool met_unknown_marker() const { return met_unknown_marker_; }

 private:
  void AddBranchCalls(const WordArray& branches);

  std::vector<ChainFrame> frames_;
  bool met_unknown_marker_ = false;
};

}  // namespace perftape::perfdata
