// SPDX-License-Identifier: Apache-2.0
// What a reader read and what it left out. Every sample of a file is either in the Profile or
// counted here. The tools decide what to print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convert/model/saturating.h"
#include "convert/model/task_event.h"
#include "convert/unwind/unwind_report.h"

namespace perftape::bundle {
struct RecordingNotes;  // formats/bundle/recording_notes.h
}

namespace perftape::convert {

// A range of a recording's time, on its clock, in nanoseconds; both ends are inclusive.
struct TimeWindow {
  std::int64_t first = 0, last = 0;
  bool Has(std::int64_t time_ns) const { return first <= time_ns && time_ns <= last; }
};

// The numbers of samples over the time of a recording.
struct TimeHistogram {
  std::uint64_t first_ns = 0, last_ns = 0;  // of the first and the last sample
  std::vector<std::uint64_t> samples = {};  // in equal parts of this time

  // Counts samples at a time between the first and the last one. Does nothing without parts.
  void Add(std::uint64_t time_ns, std::uint64_t count) {
    if (samples.empty()) return;
    const auto span = static_cast<double>(last_ns - first_ns) + 1;
    const auto since = static_cast<double>(std::clamp(time_ns, first_ns, last_ns) - first_ns);
    const auto part = static_cast<std::size_t>(since / span * static_cast<double>(samples.size()));
    samples[std::min(part, samples.size() - 1)] += count;
  }
};

// Call chains of user code that a recorder found by unwind tables, as it counted them itself.
struct ChainCount {
  std::uint64_t all = 0;
  std::uint64_t complete = 0;  // up to the outermost frame

  void Add(const ChainCount& other) {
    all = AddUpToLimit(all, other.all);
    complete = AddUpToLimit(complete, other.complete);
  }
};

struct ImportReport {
  std::uint64_t samples = 0;          // in the profile; one record may count for several events
  std::uint64_t lost_samples = 0;     // lost by the recorder, from LOST_SAMPLES records
  std::uint64_t lost_records = 0;     // lost records of any type, from LOST records
  std::uint64_t skipped_samples = 0;  // cannot be decoded, or belong to no event
  std::uint64_t unknown_events = 0;   // those of skipped_samples whose event id is unknown
  std::string first_skipped = {};     // offset of the first skipped sample: "0x1f40"
  // In the profile without their user frames: the CALLCHAIN_DEFERRED record is not in the file.
  std::uint64_t without_user_frames = 0;
  std::uint64_t outside_time = 0;     // left out because of ImportOptions::time
  std::uint64_t skipped_lines = 0;    // lines of a folded file without a count
  std::uint64_t frames = 0;           // number of frames that were read
  std::uint64_t unmapped_frames = 0;  // those in no mapping
  std::uint64_t damaged_records = 0;  // could not be decoded; skipped
  std::uint64_t late_records = 0;     // after newer records; read with the state of their own time
  std::uint64_t time_step_ns = 0;     // of ImportOptions::most_exact_times; 0: times are exact
  bool without_times = false;         // has more samples than ImportOptions::most_timed_samples
  std::uint64_t unknown_records = 0;  // of types that are not supported
  std::uint64_t jit_dumps = 0;        // jitdumps that were found and used
  std::uint64_t jit_functions = 0;    // functions in these jitdumps
  offline_unwind::UnwindReport unwound = {};  // samples with copies of registers and stack
  // By event; from the notes of a perf.data (recording_notes.h). Empty if the notes do not say how
  // call chains were found.
  std::map<std::string, ChainCount, std::less<>> noted_chains = {};
  // From the notes: why a flight recorder wrote the file at the end of its time. Empty: no reason.
  std::string trigger = {};
  // The notes of a perf.data; null if it has none.
  std::shared_ptr<const bundle::RecordingNotes> recording_notes = {};
  TimeHistogram histogram = {};             // with ImportOptions::histogram_bins
  TaskEvents task_events = {};              // with ImportOptions::time_label
  std::vector<ThreadSwitch> switches = {};  // with ImportOptions::thread_switches
  // Of a perf.data: the names of its events, also of those without samples.
  std::vector<std::string> events = {};
  // Of a perf.data, with ImportOptions::time: the range, as far as the recording has samples.
  std::optional<TimeWindow> window = {};
  // With ImportOptions::field_labels: the fields that any event has.
  std::set<std::string> fields = {};
  // Facts that are neither damage nor loss: missing sources of names, counts that were rounded.
  std::vector<std::string> notes = {};
  std::vector<std::string> problems;  // all other problems: "feature BUILD_ID: ..."
};

}  // namespace perftape::convert
