// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/push_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "formats/base/base64.h"
#include "formats/base/bytes.h"
#include "formats/otlp/export_response.h"
#include "tools/serve/client/grpc.h"

namespace perftape::serve {
namespace {

using Kind = PushVerdict::Kind;

// Statuses after which the same request may succeed: "Failures" of OTLP/HTTP.
constexpr unsigned kHttpRetries[] = {429, 502, 503, 504};

// The same of Pyroscope: 408 and 409 are the codes deadline_exceeded and aborted of Connect. A 500
// is a retry only with the code unknown: Pyroscope's parts do not reach each other. A profile that
// it cannot process has the code internal.
constexpr unsigned kPyroscopeRetries[] = {408, 409, 429, 502, 503, 504};
constexpr std::string_view kUnknownCode = R"("code":"unknown")";

// The same of OTLP/gRPC: "Failures". RESOURCE_EXHAUSTED only with RetryInfo.
constexpr GrpcStatus kGrpcRetries[] = {GrpcStatus::kCancelled,   GrpcStatus::kDeadlineExceeded,
                                       GrpcStatus::kAborted,     GrpcStatus::kOutOfRange,
                                       GrpcStatus::kUnavailable, GrpcStatus::kDataLoss};

PushVerdict Delivered(std::string_view response) {
  const Result<otlp::PartialSuccess> partial = otlp::DecodeExportResponse(AsBytes(response));
  // The request was taken, whatever the answer says.
  if (!partial) return {.kind = Kind::kDelivered, .message = "its answer is not an OTLP response"};
  return {.kind = Kind::kDelivered,
          .rejected_profiles =
              static_cast<std::uint64_t>(std::max<std::int64_t>(0, partial->rejected_profiles)),
          .message = QuotedAnswer(partial->message)};
}

bool IsIn(std::span<const unsigned> statuses, unsigned status) {
  return std::ranges::find(statuses, status) != statuses.end();
}

// Of a request that was not taken.
PushVerdict OnStatus(const HttpAnswer& answer, bool may_retry) {
  PushVerdict verdict = {.kind = may_retry ? Kind::kRetry : Kind::kRefused,
                         .message = fmt::format("status {}", answer.status)};
  if (may_retry) verdict.retry_after = answer.retry_after;
  return verdict;
}

PushVerdict OnHttp(const HttpAnswer& answer) {
  if (answer.status == 200) return Delivered(answer.body);
  return OnStatus(answer, IsIn(kHttpRetries, answer.status));
}

PushVerdict OnPyroscope(const HttpAnswer& answer) {
  if (answer.status == 200) return {.kind = Kind::kDelivered};
  const bool may_retry = IsIn(kPyroscopeRetries, answer.status) ||
                         (answer.status == 500 && answer.body.contains(kUnknownCode));
  PushVerdict verdict = OnStatus(answer, may_retry);
  if (!answer.body.empty()) verdict.message += ": " + QuotedAnswer(answer.body);
  return verdict;
}

PushVerdict OnGrpc(const HttpAnswer& answer) {
  // A proxy answers without gRPC.
  if (answer.grpc_status.empty() && answer.status != 200) return OnHttp(answer);
  const std::optional<GrpcStatus> status = GrpcStatusOf(answer);
  if (!status) return {.kind = Kind::kRetry, .message = "its answer has no gRPC status"};
  if (*status == GrpcStatus::kOk) return Delivered(GrpcMessageIn(answer.body).value_or(""));
  PushVerdict verdict = {.kind = Kind::kRefused, .message = GrpcProblem(*status, answer)};
  if (const auto details = FromBase64(answer.grpc_details))
    verdict.retry_after = otlp::RetryDelayOf(AsBytes(*details));
  const bool may_retry = std::ranges::find(kGrpcRetries, *status) != std::end(kGrpcRetries) ||
                         (*status == GrpcStatus::kResourceExhausted && verdict.retry_after);
  if (may_retry) verdict.kind = Kind::kRetry;
  return verdict;
}

}  // namespace

PushVerdict VerdictOn(const HttpAnswer& answer, PushProtocol protocol) {
  if (answer.status == 0) return {.kind = Kind::kRetry, .message = answer.problem};
  switch (protocol) {
    case PushProtocol::kHttp:
      return OnHttp(answer);
    case PushProtocol::kGrpc:
      return OnGrpc(answer);
    case PushProtocol::kPyroscope:
      return OnPyroscope(answer);
  }
  return {};
}

std::vector<std::byte> BodyOf(const std::vector<std::byte>& payload, PushProtocol protocol) {
  return protocol == PushProtocol::kGrpc ? GrpcBodyOf(payload, GrpcEncoding::kGzip) : payload;
}

}  // namespace perftape::serve
