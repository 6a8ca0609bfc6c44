// SPDX-License-Identifier: Apache-2.0
// The verbs and topics of perftape.
#pragma once

#include <string>

#include "tools/common/cli/options.h"

namespace perftape::front_tool {

const cli::Command& FrontCommand();

// Returns the text of a topic of FrontCommand(), at most 80 columns wide except for examples.
std::string TopicText(const cli::Topic& topic);

}  // namespace perftape::front_tool
