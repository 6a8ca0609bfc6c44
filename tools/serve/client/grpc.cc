// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/client/grpc.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "formats/base/text.h"
#include "tools/common/cli/escape.h"

namespace perftape::serve {
namespace {

constexpr std::size_t kPrefix = 5;  // the encoding and the length

}  // namespace

std::vector<std::byte> GrpcBodyOf(Bytes message, GrpcEncoding encoding) {
  std::vector<std::byte> body = {static_cast<std::byte>(encoding)};
  for (const int shift : {24, 16, 8, 0})
    body.push_back(static_cast<std::byte>(message.size() >> shift & 0xff));
  body.insert(body.end(), message.begin(), message.end());
  return body;
}

std::optional<std::string_view> GrpcMessageIn(std::string_view body) {
  if (body.size() < kPrefix || body[0] != static_cast<char>(GrpcEncoding::kNone))
    return std::nullopt;
  std::uint32_t size = 0;
  for (std::size_t i = 1; i < kPrefix; ++i) size = size << 8 | static_cast<unsigned char>(body[i]);
  if (size > body.size() - kPrefix) return std::nullopt;
  return body.substr(kPrefix, size);
}

std::optional<GrpcStatus> GrpcStatusOf(const HttpAnswer& answer) {
  std::underlying_type_t<GrpcStatus> number = 0;
  const char* const end = answer.grpc_status.data() + answer.grpc_status.size();
  if (std::from_chars(answer.grpc_status.data(), end, number).ec != std::errc())
    return std::nullopt;
  return static_cast<GrpcStatus>(number);
}

std::string QuotedAnswer(std::string_view text) {
  constexpr std::size_t kLongest = 300;
  return cli::EscapeForTerminal(Trimmed(text.substr(0, kLongest)));
}

std::string GrpcProblem(GrpcStatus status, const HttpAnswer& answer) {
  std::string problem = "status " + std::to_string(std::to_underlying(status)) + " of gRPC";
  if (!answer.grpc_message.empty()) problem += ": " + QuotedAnswer(answer.grpc_message);
  return problem;
}

}  // namespace perftape::serve
