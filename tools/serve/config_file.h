// SPDX-License-Identifier: Apache-2.0
// The file of --config: one option on each line, with the name that it has on the command line.
//
//   # What is recorded, and where it is served.
//   event = cpu-clock,packetloss
//   listen = /run/perftape/http.sock
//   allow-missing-events
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/serve/command_line.h"

namespace perftape::serve {

// Sets the options of the text in `plan`. `name` is for messages. Fails with kInvalidArgument,
// naming the line.
Status ApplyConfig(std::string_view text, std::string_view name, ServePlan& plan);

// The same of a file. Fails as ReadWholeFile does, too.
Status ApplyConfigFile(const std::string& path, ServePlan& plan);

}  // namespace perftape::serve
