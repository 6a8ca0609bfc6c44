// SPDX-License-Identifier: Apache-2.0
// Adds facts about Go that the call frame information of its linker (.debug_frame) does not
// describe: functions of the runtime change to another stack and back, and functions save the frame
// pointer. A stripped program (go build -ldflags=-s) has no call frame information, but the
// runtime's own tables contain the size of each frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"
#include "formats/go/pc_line_table.h"
#include "formats/unwind/rule.h"

namespace perftape::unwind {

// A row of a function while the table is built.
struct RuleAt {
  std::uint64_t start = 0;  // address
  Rule rule;
};

class GoFunctions {
 public:
  // Reads the names in the pc-line table. Finds nothing in a file that is not of Go. `file` must
  // outlive the result.
  static GoFunctions Read(const elf::ElfFile& file, Machine machine);

  bool is_go() const { return is_go_; }

  struct SignalReturn {
    std::uint64_t start = 0, end = 0;
    Rule rule;
  };
  // The functions to which signal handlers return. The kernel sets their first instruction as the
  // return address of the handler. A return address is looked up one byte earlier, so each function
  // begins one byte earlier here.
  const std::vector<SignalReturn>& signal_returns() const { return signal_returns_; }

  // The functions of the pc-line table, by index. The addresses are those in a damaged file, too.
  struct Range {
    std::uint64_t start = 0, end = 0;
  };
  std::uint64_t functions() const { return table_ ? table_->functions() : 0; }
  Range function(std::uint64_t index) const;
  // The rows of one of them, as its .debug_frame has them. Empty if they are not known. Only for
  // x86-64.
  std::vector<RuleAt> RowsOf(std::uint64_t index) const;

  struct Function {
    std::uint64_t start = 0, end = 0;
    Bytes code;  // empty if the file does not have it
  };
  // Corrects the rows of a function. They are sorted, and the first is at its start.
  void Correct(const Function& function, std::vector<RuleAt>& rows) const;

 private:
  // What a function of the runtime does with the stack pointer.
  enum class Stack : std::uint8_t {
    kOutermost,  // a thread or a goroutine begins here
    kClones,     // a new thread begins here, on the stack that it is given
    kReturns,    // calls on another stack, and returns to the one before
    kLeaves,     // calls on another stack. Meanwhile another thread may continue on the one before
    kCallsBack,  // as kReturns, with a frame of its own on the stack before
  };
  struct Known {
    std::uint64_t start = 0;
    Stack stack = Stack::kOutermost;
  };
  void Add(std::string_view name, std::uint64_t start, std::uint64_t end);

  Machine machine_ = Machine::kX86_64;
  bool is_go_ = false;
  std::optional<go::PcLineTable> table_;
  std::vector<Known> known_;  // sorted
  std::vector<SignalReturn> signal_returns_;
};

}  // namespace perftape::unwind
