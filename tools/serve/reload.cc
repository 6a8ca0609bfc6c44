// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/reload.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/common/recording/own_command_line.h"
#include "tools/serve/channels/notice.h"

namespace perftape::serve {
namespace {

// Returns the options of the command line and of its file, as they are now.
Result<ServeRun> PlanAgain() {
  std::vector<std::string> words = recording::OwnCommandLine();
  if (!words.empty()) words.erase(words.begin());
  TRY_ASSIGN(ServePlan plan, cli::Parse<ServePlan>(ServeCommand(), words));
  return PlanOf(std::move(plan));
}

bool IsServedAlike(const ServeRun& one, const ServeRun& other) {
  return std::ranges::equal(one.addresses, other.addresses, {}, &ListenAddress::text,
                            &ListenAddress::text) &&
         one.token_file == other.token_file && one.directory == other.directory &&
         one.history.bytes == other.history.bytes && one.history.span == other.history.span &&
         one.push == other.push && one.no_sandbox == other.no_sandbox;
}

}  // namespace

std::optional<ServeRun> ReloadedOptions(const ServeRun& run, cli::Console& console) {
  Result<ServeRun> again = PlanAgain();
  if (!again) {
    console.Warning("SIGHUP: the old options stay: " + again.error().message);
    return std::nullopt;
  }
  if (run.config == again->config) return std::nullopt;
  if (!IsServedAlike(run, *again)) {
    console.Warning(
        "SIGHUP: restart the service to change --listen, --token-file, --history, --memory, "
        "--directory, --otlp, --push or --no-sandbox");
  }
  ServeRun changed = run;
  changed.config = std::move(again->config);
  changed.record = std::move(again->record);
  changed.events = std::move(again->events);
  changed.window = again->window;
  changed.cri_socket = std::move(again->cri_socket);
  return changed;
}

void ReloadSecrets(const SecretFiles& files, Secrets& secrets, RecordingServer& server, int pusher,
                   cli::Console& console) {
  const auto warn = [&](const Error& error) {
    console.Warning("SIGHUP: " + error.message + "; the old content stays in use");
  };
  const auto send = [&](Notice::Kind kind, std::string_view text) {
    const Status sent =
        kind == Notice::Kind::kToken ? server.Send(kind, text) : SendText(pusher, kind, text);
    if (!sent) warn(sent.error());
  };
  ReadAgain(files, secrets, {.send = send, .warn = warn});
}

}  // namespace perftape::serve
