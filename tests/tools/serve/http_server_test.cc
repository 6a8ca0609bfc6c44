// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/http_server.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/serve/access.h"

namespace perftape::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Hello : public HttpHandler {
 public:
  void Handle(HttpRequest, std::shared_ptr<Exchange> exchange) override {
    exchange->Reply({.body = "hello"});
  }
};

// A server in a thread.
class Running {
 public:
  explicit Running(HttpHandler& handler)
      : http_(Sockets(), handler,
              [this](std::string text) { warnings.push_back(std::move(text)); }),
        thread_([this] { http_.Run(); }) {}
  ~Running() { Stop(); }

  void Stop() {
    http_.Stop();
    if (thread_.joinable()) thread_.join();
  }

  void Connect(const UniqueFd& client) const {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(address_.port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  }

  const HttpCounts& counts() const { return http_.counts(); }

  std::vector<std::string> warnings;  // of the server's thread

 private:
  std::vector<UniqueFd> Sockets() {
    std::vector<UniqueFd> sockets;
    sockets.push_back(Listen(address_).value());
    return sockets;
  }

  ListenAddress address_ = ParseListenAddress("--listen", "127.0.0.1:0").value();
  HttpServer http_;
  std::thread thread_;
};

void Send(const UniqueFd& client, std::string_view text) {
  ASSERT_EQ(send(client.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
}

// What comes until the server closes the connection.
std::string Received(const UniqueFd& client) {
  std::string text;
  char part[4096];
  for (ssize_t size = 0; (size = recv(client.get(), &part[0], sizeof part, 0)) > 0;)
    text.append(&part[0], static_cast<std::size_t>(size));
  return text;
}

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

// The number of descriptors that this process can have, until the end of the scope.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit = {.rlim_cur = most, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(HttpServer, ReadsTheNextRequestAfterABody) {
  Hello handler;
  Running server(handler);
  const UniqueFd client(socket(AF_INET, SOCK_STREAM, 0));
  server.Connect(client);
  Send(client, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n0x1+");
  Send(client, "0x2\r\n");
  Send(client, kGet);
  const std::string text = Received(client);
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_NE(text.rfind("HTTP/1.1 200"), 0U);
  EXPECT_THAT(text, Not(HasSubstr("HTTP/1.1 400")));
}

TEST(HttpServer, RefusesWhatTheProtocolCallsInvalid) {
  Hello handler;
  Running server(handler);
  const auto status_of = [&](std::string_view head) {
    const UniqueFd client(socket(AF_INET, SOCK_STREAM, 0));
    server.Connect(client);
    Send(client, fmt::format("{}\r\nConnection: close\r\n\r\n", head));
    return Received(client).substr(0, sizeof "HTTP/1.1 200" - 1);
  };
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: localhost"), "HTTP/1.1 200");
  EXPECT_EQ(status_of("GET / HTTP/1.0"), "HTTP/1.1 200");
  for (const std::string_view head :
       {"GET / HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\nHost: a", "GET / HTTP/1.1\r\nHost: a b",
        "GET / HTTP/1.1\r\nHost: a/b", "GET / HTTP/1.1\r\nHost : a", "GET / HTTP/3.7\r\nHost: a",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1"})
    EXPECT_EQ(status_of(head), "HTTP/1.1 400") << head;
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked"),
            "HTTP/1.1 501");
}

// Keeps the exchange, and counts clients that go.
class Silent : public HttpHandler {
 public:
  void Handle(HttpRequest, std::shared_ptr<Exchange> exchange) override {
    exchange->OnGone([this] { ++gone; });
    exchanges.push_back(std::move(exchange));
    ++handled;
  }

  std::vector<std::shared_ptr<Exchange>> exchanges;  // of the server's thread
  std::atomic<int> handled = 0, gone = 0;
};

void WaitUntil(const std::atomic<int>& number, int value) {
  while (number < value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(HttpServer, TellsThatAClientHasGone) {
  Silent handler;
  Running server(handler);
  for (const std::string_view body : {"", "a=1"}) {
    UniqueFd client(socket(AF_INET, SOCK_STREAM, 0));
    server.Connect(client);
    Send(client,
         fmt::format("POST /record HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
                     body.size(), body));
    WaitUntil(handler.handled, handler.gone + 1);
    EXPECT_TRUE(handler.exchanges.back()->IsOpen());
    client.Reset();
    WaitUntil(handler.gone, handler.handled);
    EXPECT_FALSE(handler.exchanges.back()->IsOpen());
  }
  server.Stop();
  handler.exchanges.clear();
}

TEST(HttpServer, DoesNotTellThatAClientWithAnAnswerHasGone) {
  Silent handler;
  Running server(handler);
  const UniqueFd client(socket(AF_INET, SOCK_STREAM, 0));
  server.Connect(client);
  Send(client, kGet);
  WaitUntil(handler.handled, 1);
  handler.exchanges.back()->Reply({.body = "hello"});
  EXPECT_THAT(Received(client), HasSubstr("hello"));
  server.Stop();
  EXPECT_EQ(handler.gone, 0);
  handler.exchanges.clear();
}

TEST(HttpServer, PausesIfItHasNoDescriptorForAConnection) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{100};
  Hello handler;
  Running server(handler);
  for (int time = 0; time < 2; ++time) {
    const UniqueFd client(socket(AF_INET, SOCK_STREAM, 0));
    const std::uint64_t failures_before = server.counts().accept_failures;
    {
      const DescriptorLimit none(0);
      const Clock::time_point begin = Clock::now();
      server.Connect(client);
      Send(client, kGet);
      while (server.counts().accept_failures < failures_before + 3)
        std::this_thread::sleep_for(kPause / 10);
      // A timer may be late, but not early.
      const auto attempts = server.counts().accept_failures - failures_before;
      EXPECT_LE(attempts, static_cast<std::uint64_t>((Clock::now() - begin) / kPause) + 1);
    }
    EXPECT_THAT(Received(client), StartsWith("HTTP/1.1 200"));
  }
  server.Stop();
  EXPECT_THAT(server.warnings, ElementsAre(HasSubstr("Too many open files")));
}

}  // namespace
}  // namespace perftape::serve
