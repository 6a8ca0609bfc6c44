// SPDX-License-Identifier: Apache-2.0
// The options of all readers of profiles. Each reader uses those that its format needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/folded/root.h"

namespace perftape::convert {

// A point in a recording: in nanoseconds since its first sample, or as a share of the time from its
// first sample to its last. A point in nanoseconds that lies behind the recording's length and not
// before its first sample's own time is such a time: what `perf script` prints.
struct TimePoint {
  std::int64_t nanoseconds = 0;
  std::optional<double> percent = {};  // 0 to 100; then it counts, not the nanoseconds
};

// Both ends belong to it. Without an end it reaches as far as the recording does.
struct TimeRange {
  std::optional<TimePoint> from = {}, to = {};
};

// A jitdump, and the owner of its bytes.
struct JitDumpBytes {
  Bytes bytes;
  std::shared_ptr<const void> keeper;
};

// Finds the jitdump that a process had mapped from a path. It decides which sources are allowed.
// Fails with kNotFound if there is none.
using JitDumpFinder =
    std::function<Result<JitDumpBytes>(const std::string& path, std::uint32_t pid)>;

struct ImportOptions {
  // Fields of a perf.data's samples that become labels. Each makes more distinct samples.
  bool cpu_label = false;     // "cpu", in unit "cpu"
  bool cgroup_label = false;  // "cgroup": its path
  // Samples outside are left out, and counted: of a perf.data by their time, of a pprof by their
  // label "timestamp_ns", if they have one.
  std::optional<TimeRange> time = {};
  // Of a perf.data with just-in-time compiled code, which has to be named while it is read: at
  // another time other code was there. Without it that code stays memory without names.
  JitDumpFinder find_jit_dump = {};
  // The number of threads. The profile does not depend on it.
  unsigned threads = 1;

  // For folded stacks:
  folded::Root root = folded::Root::kNone;  // what the first frame is, if it is no frame
  bool differential = false;                // two counts a line: the events "before" and "after"
  bool lenient = false;  // lines without a count are skipped and counted, not an error
  // Frames that are no more than an address of the kernel ("[kernel] 0xffffffff81000100") lie
  // there, in a mapping [kernel.kallsyms], so that they can be given a name; until then they have
  // that of the file.
  bool map_kernel_addresses = false;
};

}  // namespace perftape::convert
