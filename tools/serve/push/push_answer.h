// SPDX-License-Identifier: Apache-2.0
// What the answer to a push means: delivered, to be sent again, or never to be taken. The rules of
// OTLP are those of docs/specification.md of opentelemetry-proto 1.11. Pyroscope answers as
// connect-go does (protocol_connect.go, connectCodeToHTTP), and Alloy sends again what may succeed
// later (internal/component/pyroscope/write/write.go, shouldRetry).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/client/http_client.h"
#include "tools/serve/push/push_target.h"

namespace perftape::serve {

struct PushVerdict {
  enum class Kind : std::uint8_t { kDelivered, kRetry, kRefused };
  Kind kind = Kind::kRetry;
  std::optional<std::chrono::nanoseconds> retry_after = {};  // of kRetry, if the receiver said it
  std::uint64_t rejected_profiles = 0;                       // of kDelivered
  std::string message = {};  // for users; of kDelivered, if the receiver has a warning
};

PushVerdict VerdictOn(const HttpAnswer& answer, PushProtocol protocol);

// Returns what is sent of a payload: of gRPC, a message with its length.
std::vector<std::byte> BodyOf(const std::vector<std::byte>& payload, PushProtocol protocol);

}  // namespace perftape::serve
