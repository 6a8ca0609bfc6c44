// SPDX-License-Identifier: Apache-2.0
// How a recording went, for a person and as an exit status.
#pragma once

#include <string>
#include <vector>

#include "record/recorder.h"

namespace perftape::record_tool {

// "4950 samples, 0 lost, 1.3 MiB in perf.data", and how far it was compressed; then, where any were
// lost, a line for each cause; then which CPUs stood still or were offline; then what symbols there
// are, and which are missing.
std::vector<std::string> SummaryLines(const record::RecordSummary& summary);

// Why the recording ended before its time, how many samples are safe and how many were lost.
std::string FailureText(const record::RecordSummary& summary);

// What a second signal, which ends the recorder at once, leaves out.
std::string SecondSignalText(int signal, const record::RecordOptions& options);

// 1 where the recording failed; the command's where one ended, or a shell's where it could not be
// run; else 0, or 3 where more than a twentieth of all samples was lost
// (where perf warns, too: tools/perf/builtin-record.c of 6.1 says "Check IO/CPU overload!"), or
// where a bundle was asked for and could not be written.
int ExitStatus(const record::RecordSummary& summary);

}  // namespace perftape::record_tool
