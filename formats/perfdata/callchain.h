// SPDX-License-Identifier: Apache-2.0
// The frames of a sample's callchain, without the context markers. Each frame has the cpu mode of
// the marker before it. If the hardware recorded calls in the branch stack (perf record
// --call-graph lbr), the user frames come from there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// Whether a frame's address is that of the executed instruction, or of the instruction after a
// call.
enum class FoundBy : std::uint8_t { kInstruction, kReturnAddress };

struct ChainFrame {
  std::uint64_t address = 0;
  CpuMode mode = CpuMode::kUnknown;
  FoundBy found_by = FoundBy::kInstruction;
};

// Whether the user frames of this event's samples are in the branch stack
// (PERF_SAMPLE_BRANCH_CALL_STACK).
bool HasBranchCallStack(const SampleFormat& format);

class CallchainReader {
 public:
  // The frames of `sample`, leaf first, valid until the next call. `mode` is the cpu mode of its
  // record, for the entries before the first marker. The frames end at an unknown marker, which is
  // garbage that a frame-pointer walk found. They also end at PERF_CONTEXT_USER_DEFERRED, because
  // the user frames are in a later record.
  std::span<const ChainFrame> FramesOf(const Sample& sample, const SampleFormat& format,
                                       CpuMode mode);

  // Whether the last callchain had an unknown marker. perf discards such a callchain
  // (tools/perf/util/machine.c, add_callchain_ip).
  bool met_unknown_marker() const { return met_unknown_marker_; }

 private:
  void AddBranchCalls(const WordArray& branches);

  std::vector<ChainFrame> frames_;
  bool met_unknown_marker_ = false;
};

}  // namespace perftape::perfdata
