// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/process_context.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "formats/otlp/conventions.h"
#include "formats/otlp/layout.h"
#include "formats/protobuf/field_reader.h"

namespace perftape::otlp {
namespace {

constexpr std::string_view kSignature = "OTEL_CTX";
constexpr std::uint32_t kVersion = 2;

struct EncodedHeader {
  char signature[8];
  std::uint32_t version, payload_bytes;
  std::uint64_t published_ns, payload;
};
static_assert(sizeof(EncodedHeader) == ProcessContextHeader::kBytes);

struct ProcessContextMessage {
  std::optional<Resource> resource = {};
  std::vector<KeyValue> attributes = {};
};

template <class Visitor, Is<ProcessContextMessage> M>
void Layout(Visitor& field, M& message) {
  field(Field{1, "resource"}, message.resource);
  field(Field{2, "attributes"}, message.attributes);
}

}  // namespace

bool IsProcessContextMapping(std::string_view name) {
  for (const std::string_view known : {"/memfd:OTEL_CTX (deleted)", "/memfd:OTEL_CTX",
                                       "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]"}) {
    if (name == known) return true;
  }
  return false;
}

Result<ProcessContextHeader> DecodeProcessContextHeader(Bytes begin) {
  EncodedHeader encoded;
  if (begin.size() < sizeof encoded) {
    return Fail(ErrorCode::kCorrupt, "OTEL_CTX: shorter than its header");
  }
  std::memcpy(&encoded, begin.data(), sizeof encoded);
  if (std::string_view(encoded.signature, sizeof encoded.signature) != kSignature) {
    return Fail(ErrorCode::kCorrupt, "OTEL_CTX: no signature at offset 0");
  }
  if (encoded.version != kVersion) {
    return Fail(ErrorCode::kUnsupported,
                "OTEL_CTX: version " + std::to_string(encoded.version) + " at offset 8");
  }
  if (encoded.payload_bytes > ProcessContextHeader::kMostPayloadBytes) {
    return Fail(
        ErrorCode::kCorrupt,
        "OTEL_CTX: a payload of " + std::to_string(encoded.payload_bytes) + " bytes at offset 12");
  }
  return ProcessContextHeader{.published_ns = encoded.published_ns,
                              .payload = encoded.payload,
                              .payload_bytes = encoded.payload_bytes};
}

Result<std::vector<std::pair<std::string, std::string>>> DecodeServiceAttributes(Bytes payload) {
  ProcessContextMessage message;
  TRY(protobuf::DecodeInto(payload, message));
  std::vector<std::pair<std::string, std::string>> found;
  if (!message.resource) return found;
  for (const std::string_view key : kServiceAttributes) {
    const auto& attributes = message.resource->attributes;
    const auto of_key = std::ranges::find(attributes, key, &KeyValue::key);
    if (of_key == attributes.end() || !of_key->value) continue;
    const std::string_view text = of_key->value->text.value_or("");
    if (!text.empty() && text.size() <= kLongestServiceAttribute) found.emplace_back(key, text);
  }
  return found;
}

}  // namespace perftape::otlp
