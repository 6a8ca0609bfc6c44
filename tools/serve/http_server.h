// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 server on open sockets. It knows no paths: a handler answers. Everything that a
// client sends or keeps is limited: connections, the header, times, and the bytes of answers that
// are not read. The only file that uses Boost.Beast is http_server.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/file.h"

namespace perftape::serve {

// Views are not kept: a request owns its texts.
struct HttpRequest {
  std::string method, target, host, authorization, accept;
  std::string origin, fetch_site;  // as a browser sends them; else empty
  std::size_t listener = 0;        // the index of the socket
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  // If there is a file, its content follows the body.
  UniqueFd file = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// A request that waits for its answer. Thread-safe.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  // Call it once.
  virtual void Reply(HttpResponse response) = 0;
  // Whether the client is still there.
  virtual bool IsOpen() const = 0;
  // The thread of the server calls `act` if the client goes before the answer. Call it once, within
  // HttpHandler::Handle.
  virtual void OnGone(std::function<void()> act) = 0;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Called by the thread of the server, so it must return soon. The answer may come later, from any
  // thread. `request.method` is GET, HEAD or POST. The body of an answer to HEAD is not sent.
  virtual void Handle(HttpRequest request, std::shared_ptr<Exchange> exchange) = 0;
};

struct HttpLimits {
  std::size_t connections = 200;
  std::size_t header_bytes = 8192;
  std::uint64_t body_bytes = std::uint64_t{256} << 10;   // no request needs a body
  std::uint64_t unread_bytes = std::uint64_t{64} << 20;  // of all answers; the last may exceed it
  std::chrono::seconds request_time{5};
  std::chrono::seconds write_time{10};  // for each part of an answer
};

struct HttpCounts {
  std::atomic<std::uint64_t> requests = 0, connections = 0, refused = 0;
  std::atomic<std::uint64_t> accept_failures = 0;  // each time, connections wait for a moment
};

class HttpServer {
 public:
  // `handler` must outlive the server. The sockets must accept without blocking. `warn` is called
  // by the thread of the server, once, when connections cannot be accepted.
  HttpServer(std::vector<UniqueFd> sockets, HttpHandler& handler,
             std::function<void(std::string)> warn, const HttpLimits& limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Answers requests until Stop.
  void Run();
  // Ends Run as soon as answers that were given are sent, or after a second. Thread-safe.
  void Stop();

  const HttpCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::serve
