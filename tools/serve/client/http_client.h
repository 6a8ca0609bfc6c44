// SPDX-License-Identifier: Apache-2.0
// Sends one POST after the other with libcurl, by HTTP or gRPC, without ever waiting for the
// network. The only file that uses libcurl is http_client.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"

namespace perftape::serve {

enum class HttpProtocol : std::uint8_t { kHttp, kGrpc };

struct HttpTarget {
  std::string name = {};         // for messages
  std::string url = {};          // http:// or https://
  std::string unix_socket = {};  // the path of one; empty: TCP, to the host of the URL
  HttpProtocol protocol = HttpProtocol::kHttp;
  std::vector<std::string> headers = {};  // "Name: value", besides those that gRPC takes
  std::string certificates = {};          // PEM; empty: the system's
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::seconds timeout{10};                       // of the whole request
  std::size_t most_answer_bytes = std::size_t{64} << 10;  // the rest is dropped

  bool is_encrypted() const { return url.starts_with("https:"); }
};

// The answer as it came.
struct HttpAnswer {
  unsigned status = 0;       // of HTTP; 0: there is no answer
  std::string problem = {};  // why there is none
  std::string body = {};     // its beginning
  std::optional<std::chrono::seconds> retry_after = {};
  // Headers or trailers of gRPC; empty if they did not come.
  std::string grpc_status = {}, grpc_message = {}, grpc_details = {};
};

class HttpClient {
 public:
  // Fails with kUnsupported if libcurl lacks what the target needs.
  static Result<HttpClient> Create(const HttpTarget& target);

  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Begins a request, if none is under way.
  void Start(std::vector<std::byte> body);
  bool is_busy() const;

  // Works on the request until it ends, the descriptor (if it is not -1) can be read, or the time
  // has passed. Returns the answer when the request ends.
  std::optional<HttpAnswer> Wait(int fd, std::chrono::milliseconds time);

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perftape::serve
