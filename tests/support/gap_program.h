// SPDX-License-Identifier: Apache-2.0
// A program with code that has no call frame information, as glibc's clone has it: the rest of a
// function, after the system call.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/frame_builder.h"

namespace perftape::unwind {

struct GapProgram {
  static constexpr std::uint64_t kClone = FrameBuilder::kText;  // up to its system call
  static constexpr std::uint64_t kGap = kClone + 0x10;          // and the rest, of 8 bytes
  static constexpr std::uint64_t kFails = kClone + 0x20;        // ends with a call of abort
  static constexpr std::uint64_t kThread = kClone + 0x30;       // the first instruction
  static constexpr std::uint64_t kCaller = kClone + 0x40;       // has no caller
  static constexpr std::uint64_t kAfterCall = kCaller + 5;
  static constexpr std::uint64_t kAfterMove = kCaller + 10;

  static std::vector<std::byte> Build() {
    FrameBuilder frames;
    const auto common = frames.AddCommon({});
    frames.AddFrame(common, kClone, 0x10, "");
    frames.AddFrame(common, kClone + 0x18, 0x8, "");
    frames.AddFrame(common, kFails, 0x10, Instructions(DW_CFA_def_cfa_offset, 16));
    frames.AddFrame(common, kThread, 0x10, "");
    frames.AddFrame(common, kCaller, 0x10, Instructions(DW_CFA_undefined, 16));
    const std::string call("\xe8\0\0\0\0", 5), move("\xb8\0\0\0\0", 5);
    std::string code(0x20, '\xc3');
    code += std::string(0x10 - call.size(), '\x90') + call;
    code += std::string(0x10, '\xc3');
    code += call + move;
    frames.SetCode(code);
    return frames.Program().Build();
  }
};

}  // namespace perftape::unwind
