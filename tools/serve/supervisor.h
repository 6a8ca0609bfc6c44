// SPDX-License-Identifier: Apache-2.0
// The first process: it opens what the others need, starts them, and waits for them and for
// signals.
#pragma once

#include "formats/base/result.h"
#include "tools/common/cli/console.h"
#include "tools/serve/command_line.h"

namespace perftape::serve {

// Serves until SIGINT or SIGTERM. Returns the exit status. Fails with the reasons why the service
// cannot start.
Result<int> Supervise(const ServeRun& run, cli::Console& console);

}  // namespace perftape::serve
