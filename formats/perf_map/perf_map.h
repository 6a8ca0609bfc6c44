// SPDX-License-Identifier: Apache-2.0
// The names that a just-in-time compiler gives to its code, in /tmp/perf-PID.map. It has a line for
// each function, "START SIZE name", with hexadecimal numbers; the name extends to the end of the
// line (tools/perf/Documentation/jit-interface.txt).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/result.h"

namespace perftape::perf_map {

class PerfMap {
 public:
  // Parses the lines of `text`, and ignores invalid ones. The file has no times. If ranges overlap,
  // the later line applies, because compilers reuse memory.
  static PerfMap Parse(std::string text);

  // The function at `address`. Its name is empty if there is none, else it lives as long as the
  // map, even if it is moved.
  struct Found {
    std::string_view name = {};
    std::uint64_t offset = 0;  // of the address, from the start of the function
  };
  Found Find(RuntimeAddress address) const;

  std::size_t size() const { return ranges_.size(); }  // the number of ranges without overlap

 private:
  struct Range {
    std::uint64_t start = 0, end = 0;
    std::string_view name;
    std::uint64_t function_start = 0;
  };

  void AddDisjoint(std::vector<Range> lines);

  std::unique_ptr<const std::string> text_;  // on the heap, so that a move keeps views valid
  std::vector<Range> ranges_;                // sorted by start, without overlap
};

}  // namespace perftape::perf_map
