// SPDX-License-Identifier: Apache-2.0
// Profile -> the text that perf script prints, for the tools that read it: stackcollapse-perf.pl,
// inferno, speedscope, Firefox Profiler. Equal profiles become equal files.
//
//   samples     one for each that was counted; their periods add up to the sample's period. A plain
//               value is one sample, whose period is the value.
//   times       from the labels "timestamp_ns", in this order. If no sample has one, sample n is at
//               n milliseconds, and samples are sorted by thread, event and stack.
//   threads     COMM PID/TID; an unknown id is 4294967295 (-1), and a sample without a thread is of
//               "[no-thread]" 2147483647/2147483647, as in a perf.data
//   cpu         from the labels "cpu"
//   frames      the address as an offset in the file; of the kernel, at run time. Return addresses
//               are 1 above the location's address. Inlined calls are "(inlined)".
//
// ReadScript returns the same profile, except for the losses in the report, and for the build ids
// and addresses of mappings, source lines, and the times of a profile that had none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::convert {

struct ScriptOptions {
  // The readers of the text show one event, or add up all events. All events if not set.
  std::optional<EventId> event = {};
  // If the counts need more samples than this, several counts share one.
  std::uint64_t most_samples = 10'000'000;
};

// The parts of the profile that the text does not contain.
struct ScriptReport {
  std::uint64_t negative_samples = 0;   // left out: a period cannot be below 0
  std::uint64_t uncounted_samples = 0;  // a period without a count, written as one sample each
  std::uint64_t joined_counts = 0;      // counts that share a sample with others
  std::uint64_t changed_comms = 0;      // comms that readers would not recognize
  std::vector<std::string> rounded_events = {};  // whose values have decimals
  std::vector<std::string> lost_labels = {};     // keys, sorted
};

// Returns one line for messages for each type of loss.
std::vector<std::string> LossLines(const ScriptReport& report);

// Fails as the output does.
Result<ScriptReport> WriteScript(const Profile& profile, const ScriptOptions& options,
                                 OutputFile& out);

}  // namespace perftape::convert
