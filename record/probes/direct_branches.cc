// SPDX-License-Identifier: Apache-2.0
#include "record/probes/direct_branches.h"

#include <elf.h>

namespace perftape::record {
namespace {

// call rel32 and jmp rel32 count from the next instruction.
std::vector<std::uint64_t> BranchesOfX86(Bytes code, std::uint64_t address) {
  constexpr std::byte kCall{0xe8}, kJump{0xe9};
  constexpr std::size_t kSize = 5;
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at + kSize <= code.size(); ++at) {
    if (code[at] != kCall && code[at] != kJump) continue;
    const auto distance = LoadFixed<std::int32_t>(code.data() + at + 1, std::endian::little);
    targets.push_back(address + at + kSize + static_cast<std::uint64_t>(std::int64_t{distance}));
  }
  return targets;
}

// B and BL: imm26 counts instructions from this one.
std::vector<std::uint64_t> BranchesOfArm64(Bytes code, std::uint64_t address) {
  constexpr std::uint32_t kOpcode = 0x7c000000, kBranch = 0x14000000;
  constexpr std::size_t kSize = 4;
  constexpr int kSignShift = 6;
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at + kSize <= code.size(); at += kSize) {
    const auto word = LoadFixed<std::uint32_t>(code.data() + at, std::endian::little);
    if ((word & kOpcode) != kBranch) continue;
    const auto distance = static_cast<std::int32_t>(word << kSignShift) >> kSignShift;
    targets.push_back(address + at +
                      static_cast<std::uint64_t>(std::int64_t{distance} * std::int64_t{kSize}));
  }
  return targets;
}

}  // namespace

std::vector<std::uint64_t> DirectBranches(Bytes code, std::uint64_t address,
                                          std::uint16_t machine) {
  if (machine == EM_X86_64) return BranchesOfX86(code, address);
  if (machine == EM_AARCH64) return BranchesOfArm64(code, address);
  return {};
}

}  // namespace perftape::record
