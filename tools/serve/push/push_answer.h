// SPDX-License-Identifier: Apache-2.0
// What the answer to a push means: delivered, to be sent again, or never to be taken. The rules are
// those of docs/specification.md of opentelemetry-proto 1.11.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/client/http_client.h"

namespace perftape::serve {

struct PushVerdict {
  enum class Kind : std::uint8_t { kDelivered, kRetry, kRefused };
  Kind kind = Kind::kRetry;
  std::optional<std::chrono::nanoseconds> retry_after = {};  // of kRetry, if the receiver said it
  std::uint64_t rejected_profiles = 0;                       // of kDelivered
  std::string message = {};  // for users; of kDelivered, if the receiver has a warning
};

PushVerdict VerdictOn(const HttpAnswer& answer, HttpProtocol protocol);

// Returns the body of a request.
std::vector<std::byte> BodyOf(const std::vector<std::byte>& gzip, HttpProtocol protocol);

}  // namespace perftape::serve
