// SPDX-License-Identifier: Apache-2.0
// The options of all readers of profiles. Each reader uses those that its format needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/unwind/binary_tables.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/folded/root.h"
#include "formats/unwind/stack_walk.h"

namespace perftape::convert {

// A point in a recording: nanoseconds since its first sample, or a percentage of the time from its
// first sample to its last. Nanoseconds that exceed the recording's length and are not below the
// first sample's timestamp are a timestamp, as `perf script` prints it.
struct TimePoint {
  std::int64_t nanoseconds = 0;
  std::optional<double> percent = {};  // 0 to 100; if set, `nanoseconds` is ignored
};

// Both ends are inclusive. A missing end means no limit.
struct TimeRange {
  std::optional<TimePoint> from = {}, to = {};
};

// A jitdump, and the owner of its bytes.
struct JitDumpBytes {
  Bytes bytes;
  std::shared_ptr<const void> keeper;
  // If not 0, the dump must be of the process with this number in its own pid namespace.
  std::uint32_t own_pid = 0;
};

// Finds the jitdump that a process had mapped from a path. The finder decides which sources are
// allowed. Fails with kNotFound if there is none.
using JitDumpFinder =
    std::function<Result<JitDumpBytes>(const std::string& path, std::uint32_t pid)>;

struct ImportOptions {
  // Fields of the samples of a perf.data, or of the text of perf script, that become labels. Each
  // one makes more distinct samples.
  bool cpu_label = false;     // "cpu", in unit "cpu"
  bool cgroup_label = false;  // "cgroup": its path
  // Of a perf.data: "namespace", "pod" and "container", if the recorder noted them for the cgroup,
  // and "unit", that of systemd in its path.
  bool container_labels = false;
  // Of a perf.data: otlp::kServiceAttributes, "service.name" and others, if the recorder noted that
  // the process published them.
  bool service_labels = false;
  // "timestamp_ns". It makes samples with different times distinct, so memory grows with the
  // samples. ImportReport::task_events gets what happened to threads besides the samples.
  bool time_label = false;
  // A perf.data with more samples is read without time_label and field_labels.
  std::uint64_t most_timed_samples = UINT64_MAX;
  // In a perf.data with more samples and without waits, times are rounded to 4,000 parts of the
  // recording, which is what a screen can show: samples that differ only in the time within a part
  // become one. If there are still more samples, parts are longer. The sums of samples are exact.
  std::uint64_t most_exact_times = UINT64_MAX;
  // With time_label, of a perf.data: ImportReport::switches gets its context switches.
  bool thread_switches = false;
  // Fields of tracepoints (field_labels.h): their values, if the sample's event has them.
  std::vector<std::string> field_labels = {};
  // Samples outside this range are left out and counted. The time of a perf.data's sample is in its
  // record, that of a pprof's sample in its label "timestamp_ns". Samples without a time are kept.
  std::optional<TimeRange> time = {};
  // Of a perf.data: also keeps waits that began in the range or before it, and the sums of short
  // waits in some seconds around it, because these show how much of the range was short waits
  // (timeline.h).
  bool waits_around_time = false;
  // Of a perf.data: samples of events for whose names it returns false are skipped, as if the
  // recording had none. If not set, all are read.
  std::function<bool(std::string_view event)> wants_event = {};
  // Stores for each sample of the profile the time of the first such sample of a perf.data.
  bool first_times = false;
  // Counts the samples of a perf.data in this many equal parts of its time; 0 for none.
  std::size_t histogram_bins = 0;
  // Finds jitdumps of a perf.data. JIT code must be named while reading, because the same addresses
  // contain different code at different times. If not set, JIT code has no names.
  JitDumpFinder find_jit_dump = {};
  // Finds the binaries of a perf.data whose samples have copies of registers and stack (perf record
  // --call-graph dwarf). If not set, these samples keep the callchain of the kernel.
  offline_unwind::BinaryFinder find_binary = {};
  // If set, called once after the last call of find_binary, while the samples become a profile.
  std::function<void()> found_binaries = {};
  std::filesystem::path index_cache = {};       // keeps their unwind tables; empty: they are built
  std::size_t max_stack = unwind::kMostFrames;  // the most user frames of such a sample
  // The number of threads. The profile does not depend on it.
  unsigned threads = 1;

  // For folded stacks:
  folded::Root root = folded::Root::kNone;  // what the first frames are, if not functions
  bool differential = false;                // two counts a line: the events "before" and "after"
  bool lenient = false;  // skip and count lines without a count, instead of failing
  // Frames that are only a kernel address ("[kernel] 0xffffffff81000100") are put at this address
  // in a mapping [kernel.kallsyms], so that they can be named. Until then they keep the name in the
  // file.
  bool map_kernel_addresses = false;
};

}  // namespace perftape::convert
