// SPDX-License-Identifier: Apache-2.0
// Sends one request after the other with libcurl, without ever waiting for the network. The only
// file that uses libcurl is push_client.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "tools/serve/push/push_answer.h"
#include "tools/serve/push/push_target.h"

namespace perftape::serve {

// A receiver has this time for an answer, as by default of OpenTelemetry's exporters.
inline constexpr std::chrono::seconds kPushTimeout{10};

class PushClient {
 public:
  // Fails with kUnsupported if libcurl lacks what the target needs.
  static Result<PushClient> Create(const PushTarget& target, const PushSecrets& secrets);

  PushClient(PushClient&&) noexcept;
  PushClient& operator=(PushClient&&) = delete;
  ~PushClient();

  // Begins a request, if none is under way.
  void Start(std::vector<std::byte> body);
  bool is_busy() const;

  // Works on the request until it ends, the descriptor (if it is not -1) can be read, or the time
  // has passed. Returns the answer when the request ends.
  std::optional<PushAnswer> Wait(int fd, std::chrono::milliseconds time);

 private:
  struct State;
  explicit PushClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perftape::serve
