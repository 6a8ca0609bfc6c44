// SPDX-License-Identifier: Apache-2.0
// The options that say when events are on: --delay and --control.
#pragma once

#include <string_view>

#include "formats/base/result.h"
#include "record/control/control_spec.h"
#include "record/recorder_options.h"
#include "tools/common/cli/options.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

// Both fail with kInvalidArgument; the message begins with `option`.
Result<record::ControlSpec> ParseControlOption(std::string_view option, std::string_view text);
Result<record::EnabledRanges> ParseDelayOption(std::string_view option, std::string_view text);

inline constexpr cli::Option kControlRows[] = {
    {.name = "delay",
     .letter = 'D',
     .argument = "MS",
     .help = "sample after MS milliseconds, with ranges (10-20,30-40) only in these, with -1 not "
             "before the command enable of --control",
     .into = cli::StoreAs<&ParseDelayOption, &Plan::record, &record::RecordOptions::control,
                          &record::ControlOptions::delay>,
     .verdict = cli::Verdict::kDone},
    {.name = "control",
     .argument = "CHANNEL",
     .help = "execute commands (enable, disable, snapshot, stop, ...) from a FIFO or a descriptor: "
             "fifo:CTL[,ACK] or fd:CTL[,ACK]; each is answered with ack on ACK",
     .into = cli::StoreAs<&ParseControlOption, &Plan::record, &record::RecordOptions::control,
                          &record::ControlOptions::channel>,
     .verdict = cli::Verdict::kDone},
};

// Completes the options for --delay, and makes the answers of the command evlist appear: on stdout,
// or on stderr if the recording is on stdout.
void FinishControl(record::RecordOptions& options);

}  // namespace perftape::record_tool
