// SPDX-License-Identifier: Apache-2.0
// Calls of gRPC with one message each way, as bodies of requests and answers of HTTP/2
// (PROTOCOL-HTTP2.md of gRPC).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "tools/serve/client/http_client.h"

namespace perftape::serve {

// Statuses, of those that matter here.
enum class GrpcStatus : std::uint8_t {
  kOk = 0,
  kCancelled = 1,
  kDeadlineExceeded = 4,
  kResourceExhausted = 8,
  kAborted = 10,
  kOutOfRange = 11,
  kUnavailable = 14,
  kDataLoss = 15,
};

// As the header grpc-encoding of the request says.
enum class GrpcEncoding : std::uint8_t { kNone = 0, kGzip = 1 };

// Returns the body of a request: the message after its encoding and its length.
std::vector<std::byte> GrpcBodyOf(Bytes message, GrpcEncoding encoding);

// Returns the message in the body of an answer, a view of it; nothing if it is not whole, or
// compressed.
std::optional<std::string_view> GrpcMessageIn(std::string_view body);

// Returns the status of a call; nothing if the answer has none, as that of a proxy.
std::optional<GrpcStatus> GrpcStatusOf(const HttpAnswer& answer);

// Returns a text of an answer for users: its beginning, without control characters.
std::string QuotedAnswer(std::string_view text);

// Returns a status that is not kOk for users: "status 14 of gRPC: the message".
std::string GrpcProblem(GrpcStatus status, const HttpAnswer& answer);

}  // namespace perftape::serve
