// SPDX-License-Identifier: Apache-2.0
// One output file for each event: "-o out-%e.folded" writes out-cycles.folded and
// out-sched_sched_switch.folded. In the last component of an output's path, %e is the event's name
// and %% a percent sign. Any other percent sign is itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::convert_tool {

// Returns whether the name contains %e.
bool NamesEvent(const std::filesystem::path& output);

// Returns the path with `event` in place of %e, and with a percent sign in place of %%. `event` is
// used as it is.
std::filesystem::path ExpandOutput(const std::filesystem::path& output, std::string_view event);

// Returns an event's name as part of a file's name: letters, digits and "+,-.=@_" are kept, other
// characters become "_". At most 128 characters are kept. Never empty, and never starts with ".".
std::string FileNamePart(std::string_view event);

struct EventFile {
  convert::EventId event = {};
  std::string name = {};    // of the event
  std::string amount = {};  // "99 samples", or the sum of plain values
  std::filesystem::path path = {};
};

// Returns the files for the events of `profile` that have samples, in the order of the events.
// Events whose names become the same part are numbered from the second one on: "cycles_u_2". Fails
// as CheckOutput does if a file cannot be created, or exists and must not be replaced.
Result<std::vector<EventFile>> ChooseEventFiles(const convert::Profile& profile,
                                                const std::filesystem::path& output,
                                                IfExists if_exists);

}  // namespace perftape::convert_tool
