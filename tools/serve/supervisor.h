// SPDX-License-Identifier: Apache-2.0
// The first process: it opens what the others need, starts them, and waits for them and for
// signals.
#pragma once

#include "formats/base/result.h"
#include "tools/common/cli/console.h"
#include "tools/serve/command_line.h"

namespace perftape::serve {

// Serves until SIGINT or SIGTERM. SIGHUP reads the options again. Returns the exit status. Fails
// with the reasons why the service cannot start.
Result<int> Supervise(const ServeRun& planned, cli::Console& console);

}  // namespace perftape::serve
