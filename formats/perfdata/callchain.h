// SPDX-License-Identifier: Apache-2.0
// The frames of a sample's callchain, without the context markers. Each frame has the cpu mode of
// the marker before it. If the hardware recorded calls in the branch stack (perf record
// --call-graph lbr), the user frames come from there.
//
// A second PERF_CONTEXT_USER in the user part says that a signal handler ran: the frame before the
// marker is the trampoline that the handler returns to, which no code calls, and the frame behind
// it was interrupted. perftape-record writes these markers; perf skips them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// What the address of a frame is.
enum class FoundBy : std::uint8_t {
  kInstruction,    // the executed instruction: the first frame of the user's or the kernel's part
  kReturnAddress,  // the instruction after a call
  // An instruction in a later frame: interrupted by a signal, the start of a signal's trampoline,
  // or a call in a branch stack.
  kOuterInstruction,
};

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
