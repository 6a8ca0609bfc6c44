// SPDX-License-Identifier: Apache-2.0
// One step of a stack walk: from the registers in a function to those in its caller. It does what
// bpf/unwind.bpf.h does in the kernel.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "formats/unwind/rule.h"

namespace perftape::unwind {

struct Registers {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;                       // rbp, x29
  std::optional<std::uint64_t> link = {};     // x30; unknown behind the first frame, and on x86-64
  bool interrupted = true;  // pc is the next instruction; otherwise it is a return address
};

enum class StepResult : std::uint8_t {
  kCaller,      // the registers are those of the caller
  kEnd,         // there is no caller
  kNoRule,      // the rule is kNone
  kUnreadable,  // a word that is needed is not in memory
  kNoProgress,  // the caller's frame would not be above this one
};

// Returns the word at an address of the process, or nothing.
template <class Read>
concept ReadsWords = requires(Read read, std::uint64_t address) {
  { read(address) } -> std::same_as<std::optional<std::uint64_t>>;
};

// Applies `rule` to `registers`. They are unchanged unless the result is kCaller. A return address
// of 0 is kEnd.
template <ReadsWords Read>
StepResult Step(Machine machine, const Rule& rule, const Read& read, Registers& registers);

}  // namespace perftape::unwind
