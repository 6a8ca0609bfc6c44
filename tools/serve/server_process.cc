// SPDX-License-Identifier: Apache-2.0
// The process that answers requests.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/http_server.h"
#include "tools/serve/processes.h"
#include "tools/serve/recordings.h"
#include "tools/serve/service.h"

namespace perftape::serve {
namespace {

Status Confined(const ServeRun& run, Status (*confine)()) {
  return run.no_sandbox ? Status() : confine();
}

std::vector<std::string> LinesIn(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
  }
  return lines;
}

// Applies what the first process tells.
void Apply(const Notice& notice, Service& service, cli::Console& console) {
  if (notice.kind == Notice::Kind::kEvents && !notice.file) return service.SetRecorded({}, 0);
  Result<std::string> text = TextOf(notice);
  if (!text) return console.Warning(text.error().message);
  if (notice.kind == Notice::Kind::kEvents) service.SetRecorded(LinesIn(*text), notice.id);
  if (notice.kind == Notice::Kind::kToken) service.SetToken(*std::move(text));
}

void ReadWindows(int channel, Service& service, HttpServer& http, cli::Console& console) {
  while (const std::optional<Notice> notice = ReceiveNotice(channel)) {
    Result<ImportedWindow> window = WindowIn(*notice);
    const Status added = window ? service.Add(*std::move(window)) : Fail(window.error());
    if (!added) console.Warning(added.error().message);
  }
  service.EndOfWindows();
  http.Stop();
}

}  // namespace

int RunServer(const ServeRun& run, ServerParts parts, record::SwitchRequest& cut,
              cli::Console& console) {
  if (const Status confined = Confined(run, &sandbox::ConfineServer); !confined) {
    console.Error(confined.error().message);
    return EXIT_FAILURE;
  }
  // The change of the user has cleared it.
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  Result<HistoryFile> history = HistoryFile::Open(std::move(parts.history));
  if (!history) {
    console.Error(history.error().message);
    return EXIT_FAILURE;
  }
  std::unique_ptr<RecordingClient> recordings;
  Service service({.addresses = std::move(parts.addresses),
                   .token = std::move(parts.token),
                   .events = run.events,
                   .window = run.window,
                   .history = run.history},
                  {.cut = [&] { cut.Request(); },
                   .record =
                       [&](const RecordCommand& command, RecordingClient::Callback callback) {
                         return recordings->Record(command, std::move(callback));
                       },
                   .end_recording = [&](std::uint64_t id) { recordings->End(id); }},
                  *std::move(history));
  recordings = std::make_unique<RecordingClient>(
      std::move(parts.recordings), [&](Notice& notice) { Apply(notice, service, console); });
  HttpServer http(std::move(parts.sockets), service,
                  [&](const std::string& message) { console.Warning(message); });
  service.set_http_counts(http.counts());
  service.set_push_counts(parts.push_counts);
  std::thread reader([&] { ReadWindows(parts.windows.get(), service, http, console); });
  if (const Status confined = Confined(run, &sandbox::ConfineServerCalls); !confined) {
    console.Error(confined.error().message);
    _exit(EXIT_FAILURE);  // the threads wait
  }
  http.Run();
  reader.join();
  // They send through `http`.
  service.DropRequests();
  recordings.reset();
  return EXIT_SUCCESS;
}

}  // namespace perftape::serve
