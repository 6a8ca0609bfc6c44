// SPDX-License-Identifier: Apache-2.0
// The values of a sample that only some events record: registers, branches, output of BPF programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "convert/script/frames.h"
#include "convert/script/options.h"
#include "formats/perfdata/record.h"

namespace perftape::listing {

// Appends " ABI:2    AX:0x1    BX:0x2 ". `arch` is the feature ARCH: "x86_64". Nothing if the task
// had no registers.
void AppendRegisters(std::string& out, std::uint64_t abi, const WordArray& registers,
                     std::uint64_t mask, std::string_view arch);

// The two ends of the branches of a sample: from, to, from, to. Empty if they are not resolved.
struct ResolvedBranches {
  std::span<const FrameId> ends;
  const Frames& frames;
  Style style = Style::kPerf61;
};
// Appends " 0x4005c8/0x4005dc/P/-/-/0/ " for each branch, with the names of dsos if they are
// printed (-F brstack).
void AppendBranches(std::string& out, const WordArray& branches, const ResolvedBranches& resolved,
                    FieldSet fields);
// Appends "main+0x1/f+0x5/P/-/-/0/ " for each branch (-F brstacksym).
void AppendBranchSymbols(std::string& out, const WordArray& branches,
                         const ResolvedBranches& resolved, FieldSet fields);

// Appends the lines of a bpf-output event: its bytes in hexadecimal and as text.
void AppendBpfOutput(std::string& out, Bytes raw);

}  // namespace perftape::listing
