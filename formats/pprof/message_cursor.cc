// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/message_cursor.h"

#include <optional>
#include <string>
#include <utility>

#include "formats/pprof/layout.h"
#include "formats/protobuf/field_reader.h"
#include "formats/protobuf/message_bytes.h"
#include "formats/protobuf/recognition.h"

namespace perftape::pprof {
namespace {

template <class Message>
constexpr ProfileField kTable = ProfileField::kSample;
template <>
constexpr ProfileField kTable<Mapping> = ProfileField::kMapping;
template <>
constexpr ProfileField kTable<Location> = ProfileField::kLocation;
template <>
constexpr ProfileField kTable<Function> = ProfileField::kFunction;

// Resets a message, but keeps the memory of its vectors.
void Clear(Sample& sample) {
  sample.location_ids.clear();
  sample.values.clear();
  sample.labels.clear();
}
void Clear(Location& location) {
  std::vector<Line> lines = std::move(location.lines);
  lines.clear();
  location = {.lines = std::move(lines)};
}
template <class Message>
void Clear(Message& message) {
  message = {};
}

}  // namespace

template <class Message>
Result<const Message*> MessageCursor<Message>::Next() {
  TRY_ASSIGN(const std::optional<Bytes> message,
             protobuf::NextMessage(std::to_underlying(kTable<Message>), rest_, encoded_));
  if (!message) return nullptr;
  Clear(message_);
  TRY(protobuf::DecodeInto(*message, encoded_, message_));
  return &message_;
}

template class MessageCursor<Sample>;
template class MessageCursor<Mapping>;
template class MessageCursor<Location>;
template class MessageCursor<Function>;

Result<Header> DecodeHeader(Bytes encoded) {
  Header header;
  TRY(protobuf::DecodeInto(encoded, header));
  return header;
}

Result<std::vector<std::string_view>> DecodeTexts(Bytes encoded, std::size_t limit) {
  std::vector<std::string_view> texts;
  Bytes rest = encoded;
  while (true) {
    TRY_ASSIGN(
        const std::optional<Bytes> text,
        protobuf::NextMessage(std::to_underlying(ProfileField::kStringTable), rest, encoded));
    if (!text) return texts;
    if (texts.size() >= limit) {
      return Fail(ErrorCode::kCorrupt, "more than " + std::to_string(limit) +
                                           " texts, more than a file of this size can contain");
    }
    texts.push_back(AsText(*text));
  }
}

bool LooksLikeProfile(Bytes beginning) {
  return protobuf::LooksLike<Profile>(beginning);
}

}  // namespace perftape::pprof
