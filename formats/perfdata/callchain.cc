// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/callchain.h"

#include <optional>

namespace perftape::perfdata {
namespace {

// The mode of the entries after a context marker; nothing for an unknown marker.
std::optional<CpuMode> ModeOfMarker(std::uint64_t marker) {
  switch (marker) {
    case kContextKernel:
      return CpuMode::kKernel;
    case kContextUser:
      return CpuMode::kUser;
    case kContextHv:
      return CpuMode::kHypervisor;
    case kContextGuestKernel:
      return CpuMode::kGuestKernel;
    case kContextGuestUser:
      return CpuMode::kGuestUser;
    default:
      return {};
  }
}

}  // namespace

bool HasBranchCallStack(const SampleFormat& format) {
  return format.Has(kBranchStack) && (format.branch_sample_type & kBranchCallStack) != 0;
}

std::span<const ChainFrame> CallchainReader::FramesOf(const Sample& sample,
                                                      const SampleFormat& format, CpuMode mode) {
  frames_.clear();
  met_unknown_marker_ = false;
  FoundBy found_by = FoundBy::kInstruction;
  for (const std::uint64_t entry : sample.callchain) {
    if (entry < kContextMax) {
      frames_.push_back({entry, mode, found_by});
      found_by = FoundBy::kReturnAddress;
      continue;
    }
    if (entry == kContextUserDeferred) break;
    const std::optional<CpuMode> next = ModeOfMarker(entry);
    if (!next) {
      met_unknown_marker_ = true;
      break;
    }
    const bool has_user_frame = !frames_.empty() && frames_.back().mode == CpuMode::kUser;
    const bool is_signal = mode == CpuMode::kUser && *next == CpuMode::kUser && has_user_frame;
    mode = *next;
    // The first entry after a marker is the interrupted instruction of this mode.
    found_by = is_signal ? FoundBy::kOuterInstruction : FoundBy::kInstruction;
    if (is_signal && frames_.back().found_by == FoundBy::kReturnAddress) {
      frames_.back().found_by = FoundBy::kOuterInstruction;
    }
    // If the branch stack is empty, the user frames of the callchain are used.
    if (mode == CpuMode::kUser && HasBranchCallStack(format) && !sample.branches.empty()) {
      AddBranchCalls(sample.branches);
      break;
    }
  }
  return frames_;
}

// Adds the target of the newest call, which is the start of the leaf function. Then adds the
// sources of the calls, the newest first (tools/perf/util/machine.c, lbr_callchain_add_lbr_ip).
void CallchainReader::AddBranchCalls(const WordArray& branches) {
  constexpr std::size_t kWords = 3;  // from, to, flags
  if (branches.size() < kWords) return;
  frames_.push_back({branches[1], CpuMode::kUser, FoundBy::kInstruction});
  for (std::size_t i = 0; i + kWords <= branches.size(); i += kWords) {
    frames_.push_back({branches[i], CpuMode::kUser, FoundBy::kOuterInstruction});
  }
}

}  // namespace perftape::perfdata
