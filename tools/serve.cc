// SPDX-License-Identifier: Apache-2.0
// perftape-serve: records all the time, and answers requests for profiles over HTTP.
#include "tools/common/cli/console.h"
#include "tools/mains.h"
#include "tools/serve/command_line.h"
#include "tools/serve/supervisor.h"

namespace perftape::serve {

int Main(int argc, char** argv) noexcept {
  return cli::Main<ServePlan, ServeRun>({ServeCommand(), &PlanOf, &Supervise}, argc, argv);
}

}  // namespace perftape::serve
