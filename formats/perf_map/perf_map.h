// SPDX-License-Identifier: Apache-2.0
// The names that a just-in-time compiler gives to its code, in /tmp/perf-PID.map: a line for each
// function, "START SIZE name", both numbers hexadecimal, the name up to the end of the line
// (tools/perf/Documentation/jit-interface.txt).
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
  // The lines of `text`; those that are none are counted and passed over. The file has no times:
  // where ranges overlap, the later line is right, as the compiler reuses memory.
  static PerfMap Parse(std::string text);

  // The name of the function that `address` lies in; empty where there is none. Lives as long as
  // the map, also when it is moved.
  std::string_view Find(RuntimeAddress address) const;

  std::size_t size() const { return ranges_.size(); }  // ranges, free of overlap

 private:
  struct Range {
    std::uint64_t start = 0, end = 0;
    std::string_view name;
  };

  void AddDisjoint(std::vector<Range> lines);

  std::unique_ptr<const std::string> text_;  // where it stays when this is moved
  std::vector<Range> ranges_;                // by start; free of overlap
};

}  // namespace perftape::perf_map
