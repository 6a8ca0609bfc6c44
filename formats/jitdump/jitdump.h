// SPDX-License-Identifier: Apache-2.0
// The file jit-PID.dump of a just-in-time compiler. It contains each compiled function with its
// code, its time and load address, its source lines, and its call frame information
// (tools/perf/Documentation/jitdump-specification.txt).
//
// Addresses are reused when code is discarded, so an address alone identifies no function. The
// offset of a function's code in the dump is unique. So addresses in the code are represented by
// these offsets.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::jitdump {

// Applies from `offset`, counted from the start of a function's code, up to the next line.
struct CodeLine {
  std::uint64_t offset = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // 0 if unknown
  std::string_view file;
};

struct Function {
  std::string_view name;
  FileOffset code;  // offset in the dump of its first byte
  std::uint64_t size = 0;
  std::uint32_t first_line = 0, line_count = 0;  // indexes of the dump's lines
  // Its .eh_frame, whose addresses are relative to a section at AddressOfFrames(). Empty if
  // unknown.
  Bytes eh_frame = {};

  // Returns the address of the .eh_frame of code at `start`: perf inject puts it behind the code,
  // aligned to 8 (tools/perf/util/genelf.c, jit_write_elf), and compilers rely on it.
  std::uint64_t AddressOfFrames(std::uint64_t start) const { return start + ((size + 7) & ~7ULL); }
};

// From `time` on, the code at [start, start + function's size) is that function.
struct Placement {
  std::uint64_t time = 0;
  std::uint32_t function = 0;
  RuntimeAddress start;
};

class JitDump {
 public:
  // Reads a whole dump of either byte order. An incomplete dump, as a killed process leaves it, is
  // read up to the last whole record. Returns kCorrupt for other files and damaged headers,
  // kTruncated if the header is incomplete, and kUnsupported for other versions. The views point
  // into `dump`, which must outlive the JitDump.
  static Result<JitDump> Read(Bytes dump);

  std::uint32_t pid() const { return pid_; }  // in the pid namespace of the process
  // Whether times come from the CPU's counter instead of CLOCK_MONOTONIC in nanoseconds.
  bool has_cpu_times() const { return has_cpu_times_; }

  const std::vector<Function>& functions() const { return functions_; }     // sorted by offset
  const std::vector<Placement>& placements() const { return placements_; }  // sorted by time

  // The function whose code contains `offset`. Null if there is none.
  const Function* Find(FileOffset offset) const;
  // The source line of `offset` in a function's code. Null if unknown.
  const CodeLine* LineOf(const Function& function, FileOffset offset) const;
  // The source file of the function's first line. Empty if unknown.
  std::string_view FileOf(const Function& function) const;

  // Whether a function has an .eh_frame.
  bool has_frames() const { return has_frames_; }
  std::endian order() const { return order_; }

  // The number of contradictory records, and of bytes after the last whole one. Both are ignored.
  std::uint64_t damaged() const { return damaged_; }
  std::uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  class Decoder;

  std::uint32_t pid_ = 0;
  bool has_cpu_times_ = false;
  bool has_frames_ = false;
  std::endian order_ = std::endian::native;
  std::vector<Function> functions_;
  std::vector<Placement> placements_;
  std::vector<CodeLine> lines_;
  std::uint64_t damaged_ = 0, cut_bytes_ = 0;
};

}  // namespace perftape::jitdump
