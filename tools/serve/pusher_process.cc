// SPDX-License-Identifier: Apache-2.0
// The process that pushes. It can connect to other machines, and read the files that this takes.
#include <fcntl.h>
#include <netdb.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/channels/notice.h"
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

Status StopBlocking(const UniqueFd& channel) {
  const int flags = fcntl(channel.get(), F_GETFL);
  if (flags >= 0 && fcntl(channel.get(), F_SETFL, flags | O_NONBLOCK) == 0) return {};
  return FailErrno("pushes", errno);
}

// Makes clients with the secrets as they are now.
class Clients {
 public:
  Clients(const PushTarget& target, PusherParts& parts, cli::Console& console)
      : target_(target), notices_(parts.notices), secrets_(parts.secrets), console_(console) {}

  Result<HttpClient> Make() const { return HttpClient::Create(HttpTargetOf(target_, secrets_)); }

  // Returns nothing if the secrets are the same.
  std::optional<HttpClient> Renew() {
    bool is_new = false;
    while (const std::optional<Notice> notice = ReceiveNotice(notices_.get())) {
      const Status applied = Apply(*notice);
      if (!applied) console_.Warning(applied.error().message);
      is_new = is_new || applied;
    }
    if (!is_new) return std::nullopt;
    Result<HttpClient> client = Make();
    if (client) return *std::move(client);
    console_.Warning(client.error().message);
    return std::nullopt;
  }

 private:
  Status Apply(const Notice& notice) {
    TRY_ASSIGN(std::string text, TextOf(notice));
    if (notice.kind == Notice::Kind::kCertificates) secrets_.certificates = std::move(text);
    if (notice.kind == Notice::Kind::kHeaders) {
      TRY_ASSIGN(secrets_.headers, ParseHeaders(text, "headers"));
    }
    return {};
  }

  const PushTarget& target_;
  const UniqueFd& notices_;
  PushSecrets& secrets_;
  cli::Console& console_;
};

Status Push(const ServeRun& run, PusherParts parts, cli::Console& console) {
  Clients clients(run.push.target, parts, console);
  TRY_ASSIGN(HttpClient client, clients.Make());
  if (!run.no_sandbox) {
    TRY(sandbox::ConfineClient());
    // The change of the user has cleared it.
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    LoadResolver();
    TRY(sandbox::ConfineClientCalls());
  }
  TRY(StopBlocking(parts.payloads));
  TRY(StopBlocking(parts.notices));
  Pusher pusher(
      run.push, std::move(client), [&] { return clients.Renew(); }, *parts.counts, console);
  return pusher.Run(parts.payloads.get());
}

}  // namespace

int RunPusher(const ServeRun& run, PusherParts parts, cli::Console& console) {
  const Status done = Push(run, std::move(parts), console);
  if (!done) console.Error(done.error().message);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace perftape::serve
