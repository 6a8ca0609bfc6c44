// SPDX-License-Identifier: Apache-2.0
// The process context: data that a process with an OpenTelemetry SDK publishes about itself in its
// own memory, for profilers (opentelemetry-proto 1.11, processcontext/v1development; OTEP 4719).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::otlp {

// The first bytes of its mapping, in the byte order of the machine:
//
//   char signature[8]  "OTEL_CTX"      u64 published_ns  CLOCK_BOOTTIME; 0: it is being changed
//   u32 version        2               u64 payload       the address of a ProcessContext message
//   u32 payload_bytes
struct ProcessContextHeader {
  static constexpr std::size_t kBytes = 32;
  static constexpr std::uint32_t kMostPayloadBytes = 65536;

  std::uint64_t published_ns = 0;
  std::uint64_t payload = 0;
  std::uint32_t payload_bytes = 0;

  bool operator==(const ProcessContextHeader&) const = default;
};

// Whether /proc/PID/maps gives this name to the mapping of a process context: a memfd, or memory
// named by prctl(PR_SET_VMA_ANON_NAME).
bool IsProcessContextMapping(std::string_view name);

// Decodes the first kBytes of the mapping. Fails with kCorrupt for another signature or a payload
// that is too large, and with kUnsupported for another version.
Result<ProcessContextHeader> DecodeProcessContextHeader(Bytes begin);

// A service attribute with a longer text is left out.
inline constexpr std::size_t kLongestServiceAttribute = 1024;

// Returns the service attributes of a ProcessContext message that are texts and not empty, as key
// and text, in the order of kServiceAttributes. Fails with kCorrupt if it is damaged.
Result<std::vector<std::pair<std::string, std::string>>> DecodeServiceAttributes(Bytes payload);

}  // namespace perftape::otlp
