// SPDX-License-Identifier: Apache-2.0
// The process that pushes. It can connect to other machines, and read the files that this takes.
#include <fcntl.h>
#include <netdb.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/processes.h"
#include "tools/serve/push/pusher.h"

namespace perftape::serve {
namespace {

// Loads the libraries that names of hosts take (nsswitch.conf(5)).
void LoadResolver() {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) == 0) freeaddrinfo(found);
  (void)getaddrinfo("perftape.invalid", nullptr, nullptr, &found);
}

// A receiver has this time for an answer, as by default of OpenTelemetry's exporters.
constexpr std::chrono::seconds kTimeout{10};

// Besides those that HttpClient adds for gRPC. Receivers compare the whole text.
std::vector<std::string> HeadersOf(PushProtocol protocol) {
  switch (protocol) {
    case PushProtocol::kHttp:
      return {"Content-Type: application/x-protobuf", "Content-Encoding: gzip"};
    case PushProtocol::kGrpc:
      return {"grpc-encoding: gzip"};
    case PushProtocol::kPyroscope:
      return {"Content-Type: application/proto", "Connect-Protocol-Version: 1"};
  }
  return {};
}

HttpTarget HttpTargetOf(const PushTarget& push, const PushSecrets& secrets) {
  const bool is_grpc = push.protocol == PushProtocol::kGrpc;
  HttpTarget target = {.name = push.text,
                       .url = push.url,
                       .protocol = is_grpc ? HttpProtocol::kGrpc : HttpProtocol::kHttp,
                       .headers = HeadersOf(push.protocol),
                       .certificates = secrets.certificates,
                       .timeout = kTimeout};
  target.headers.insert(target.headers.end(), secrets.headers.begin(), secrets.headers.end());
  return target;
}

}  // namespace

int RunPusher(const ServeRun& run, const PushSecrets& secrets, const UniqueFd& payloads,
              PushCounts& counts, cli::Console& console) {
  const auto fail = [&](const Error& error) {
    console.Error(error.message);
    return EXIT_FAILURE;
  };
  Result<HttpClient> client = HttpClient::Create(HttpTargetOf(run.push.target, secrets));
  if (!client) return fail(client.error());
  if (!run.no_sandbox) {
    if (const Status confined = sandbox::ConfineClient(); !confined) return fail(confined.error());
    // The change of the user has cleared it.
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    LoadResolver();
    if (const Status confined = sandbox::ConfineClientCalls(); !confined)
      return fail(confined.error());
  }
  const int flags = fcntl(payloads.get(), F_GETFL);
  if (flags < 0 || fcntl(payloads.get(), F_SETFL, flags | O_NONBLOCK) != 0) return EXIT_FAILURE;
  Pusher pusher(run.push, std::move(*client), counts, console);
  if (const Status done = pusher.Run(payloads.get()); !done) return fail(done.error());
  return EXIT_SUCCESS;
}

}  // namespace perftape::serve
