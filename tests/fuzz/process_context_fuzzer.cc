// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the header and the payload of a process context, which any user can publish.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/base/bytes.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/process_context.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using perftape::otlp::ProcessContextHeader;
  const perftape::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto header = perftape::otlp::DecodeProcessContextHeader(bytes);
  if (header && header->payload_bytes > ProcessContextHeader::kMostPayloadBytes) std::abort();
  const std::size_t payload =
      size < ProcessContextHeader::kBytes ? 0 : ProcessContextHeader::kBytes;
  const auto attributes = perftape::otlp::DecodeServiceAttributes(bytes.subspan(payload));
  if (!attributes) return 0;
  for (const auto& [key, text] : *attributes) {
    if (!perftape::otlp::IsServiceAttribute(key) || text.empty() ||
        text.size() > perftape::otlp::kLongestServiceAttribute) {
      std::abort();
    }
  }
  return 0;
}
