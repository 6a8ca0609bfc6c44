// SPDX-License-Identifier: Apache-2.0
// The result of a recording, as messages, as an exit status and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/recorder.h"

namespace perftape::record_tool {

// Returns "4950 samples, 0 lost, 1.3 MiB in perf.data" with the compression ratio, then a line for
// each cause of losses. Several events are listed: "2345 samples: 2000 cpu-clock, 345 page-faults;
// 0 lost, ...". Then follow the CPUs that did not sample or were offline. The last lines
// are the symbols that were saved and those that are missing.
std::vector<std::string> SummaryLines(const record::RecordSummary& summary);

// Returns why the recording ended early, how many samples were written and how many were lost.
std::string FailureText(const record::RecordSummary& summary);

// Returns what is missing after a second signal, which ends the recorder at once.
std::string SecondSignalText(int signal, const record::RecordOptions& options);
// The same while the recording has not begun: there is no file.
std::string EarlySignalText(int signal);

// Returns 1 if the recording failed. If a command was run, returns its status, or that of a shell
// if it could not be run. Otherwise returns 0, or 3 if a requested bundle could not be written, or
// if more than `max_loss` percent of all samples was lost. Without `max_loss`, the limit is 5, at
// which perf warns (tools/perf/builtin-record.c of 6.1, "Check IO/CPU overload!"). A loss above
// `max_loss` makes the status 3 also if a command succeeded.
int ExitStatus(const record::RecordSummary& summary, std::optional<double> max_loss);

// Returns the result of a recording as one JSON object and a line end. The man page lists its
// members.
std::string SummaryJson(const record::RecordSummary& summary, int exit_status);

}  // namespace perftape::record_tool
