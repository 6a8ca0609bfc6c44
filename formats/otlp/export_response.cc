// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/export_response.h"

#include <algorithm>
#include <vector>

#include "formats/protobuf/field_reader.h"

namespace perftape::otlp {
namespace {

using protobuf::EncodedBytes;
using protobuf::Field;

// ExportProfilesPartialSuccess
struct Rejection {
  std::int64_t profiles = 0;
  std::string_view message = {};
};

struct ExportResponse {
  std::optional<Rejection> partial_success = {};
};

// google.protobuf.Any
struct Detail {
  std::string_view type_url = {};
  EncodedBytes value = {};
};

struct RpcStatus {
  std::vector<Detail> details = {};
};

// google.protobuf.Duration
struct Delay {
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
};

struct RetryInfo {
  std::optional<Delay> delay = {};
};

template <class Visitor>
void Layout(Visitor& field, Rejection& message) {
  field(Field{1, "rejectedProfiles"}, message.profiles);
  field(Field{2, "errorMessage"}, message.message);
}

template <class Visitor>
void Layout(Visitor& field, ExportResponse& message) {
  field(Field{1, "partialSuccess"}, message.partial_success);
}

template <class Visitor>
void Layout(Visitor& field, Detail& message) {
  field(Field{1, "typeUrl"}, message.type_url);
  field(Field{2, "value"}, message.value);
}

template <class Visitor>
void Layout(Visitor& field, RpcStatus& message) {
  field(Field{3, "details"}, message.details);
}

template <class Visitor>
void Layout(Visitor& field, Delay& message) {
  field(Field{1, "seconds"}, message.seconds);
  field(Field{2, "nanos"}, message.nanoseconds);
}

template <class Visitor>
void Layout(Visitor& field, RetryInfo& message) {
  field(Field{1, "retryDelay"}, message.delay);
}

constexpr std::string_view kRetryInfo = "type.googleapis.com/google.rpc.RetryInfo";
constexpr std::int64_t kLongestDelaySeconds = std::int64_t{1} << 31;

}  // namespace

Result<PartialSuccess> DecodeExportResponse(Bytes encoded) {
  ExportResponse response;
  TRY(protobuf::DecodeInto(encoded, response));
  const Rejection rejection = response.partial_success.value_or(Rejection());
  return PartialSuccess{.rejected_profiles = rejection.profiles, .message = rejection.message};
}

std::optional<std::chrono::nanoseconds> RetryDelayOf(Bytes status) {
  RpcStatus decoded;
  if (!protobuf::DecodeInto(status, decoded)) return std::nullopt;
  const auto detail = std::ranges::find(decoded.details, kRetryInfo, &Detail::type_url);
  if (detail == decoded.details.end()) return std::nullopt;
  RetryInfo info;
  const Bytes encoded = AsBytes(detail->value.bytes);
  if (!protobuf::DecodeInto(encoded, info) || !info.delay) return std::nullopt;
  const std::chrono::seconds seconds(
      std::clamp<std::int64_t>(info.delay->seconds, 0, kLongestDelaySeconds));
  return seconds + std::chrono::nanoseconds(std::max(0, info.delay->nanoseconds));
}

}  // namespace perftape::otlp
