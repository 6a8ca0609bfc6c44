// SPDX-License-Identifier: Apache-2.0
// What SIGHUP reads again: the options of the command line with its files of --config, and the
// files with secrets.
#pragma once

#include <optional>

#include "tools/common/cli/console.h"
#include "tools/serve/command_line.h"
#include "tools/serve/recordings.h"
#include "tools/serve/secrets.h"

namespace perftape::serve {

// Returns other options for `run`; nothing if they are wrong or the same. Those that need a new
// start stay, with a warning.
std::optional<ServeRun> ReloadedOptions(const ServeRun& run, cli::Console& console);

// Reads the files again, and sends what has changed to the server or, by the channel `pusher`, to
// the process that pushes. A file that cannot be used keeps its old content, with a warning.
void ReloadSecrets(const SecretFiles& files, Secrets& secrets, RecordingServer& server, int pusher,
                   cli::Console& console);

}  // namespace perftape::serve
