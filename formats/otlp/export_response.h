// SPDX-License-Identifier: Apache-2.0
// The answer of a receiver of OTLP profiles: ExportProfilesServiceResponse of opentelemetry-proto
// 1.11 (collector/profiles/v1development/profiles_service.proto), and the details of an error of
// gRPC (google/rpc/status.proto and error_details.proto).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::otlp {

// The part of a completed request that was not accepted.
struct PartialSuccess {
  std::int64_t rejected_profiles = 0;
  std::string_view message = {};  // of the encoded bytes; may be a warning if nothing was rejected
};

// Decodes ExportProfilesServiceResponse. No bytes are a full success. Fails with kCorrupt.
Result<PartialSuccess> DecodeExportResponse(Bytes encoded);

// Returns the delay of google.rpc.RetryInfo in the details of an encoded google.rpc.Status; nothing
// if there is none, or if the bytes are damaged.
std::optional<std::chrono::nanoseconds> RetryDelayOf(Bytes status);

}  // namespace perftape::otlp
