// SPDX-License-Identifier: Apache-2.0
// What a just-in-time compiler writes to jit-PID.dump: each function that it compiled, with its
// code, when and where it was loaded, and its source lines
// (tools/perf/Documentation/jitdump-specification.txt).
//
// Addresses are used again as code is thrown away, so an address alone names nothing. What stays
// the same for ever is where in the dump the bytes of a function's code are: that offset is here
// what an address in the code is called by.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::jitdump {

// From `offset`, in the code of a function, to the next line's.
struct CodeLine {
  std::uint64_t offset = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // 0 where unknown
  std::string_view file;
};

struct Function {
  std::string_view name;
  FileOffset code;  // its first byte in the dump
  std::uint64_t size = 0;
  std::uint32_t first_line = 0, line_count = 0;  // in the dump's lines
};

// From `time` on, what runs at [start, start + function's size) is that function.
struct Placement {
  std::uint64_t time = 0;
  std::uint32_t function = 0;
  RuntimeAddress start;
};

class JitDump {
 public:
  // Reads a whole dump, of either byte order. What ends in the middle, as a process that was killed
  // leaves it, is read up to there. kCorrupt where the bytes do not begin as a dump, kUnsupported
  // for a later version. Views are of `dump`, which must outlive this.
  static Result<JitDump> Read(Bytes dump);

  std::uint32_t pid() const { return pid_; }  // as its process sees it
  // Whether its times are of the CPU's counter, not of CLOCK_MONOTONIC in nanoseconds.
  bool has_cpu_times() const { return has_cpu_times_; }

  const std::vector<Function>& functions() const { return functions_; }     // by offset
  const std::vector<Placement>& placements() const { return placements_; }  // by time

  // The function that has its code there; null where none has.
  const Function* Find(FileOffset offset) const;
  // The line of an offset in a function's code; null where none is known.
  const CodeLine* LineOf(const Function& function, FileOffset offset) const;
  // Where the function begins; empty where that is unknown.
  std::string_view FileOf(const Function& function) const;

  // Records that contradict themselves, and bytes behind the last whole one. Both were left out.
  std::uint64_t damaged() const { return damaged_; }
  std::uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  class Decoder;

  std::uint32_t pid_ = 0;
  bool has_cpu_times_ = false;
  std::vector<Function> functions_;
  std::vector<Placement> placements_;
  std::vector<CodeLine> lines_;
  std::uint64_t damaged_ = 0, cut_bytes_ = 0;
};

}  // namespace perftape::jitdump
