// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/reader.h"

#include <string>
#include <tuple>

#include "formats/base/joined_files.h"
#include "formats/otlp/layout.h"
#include "formats/protobuf/field_reader.h"
#include "formats/protobuf/message_bytes.h"
#include "formats/protobuf/recognition.h"

namespace perftape::otlp {
namespace {

// Resets a message, but keeps the memory of its vectors.
void Clear(Sample& sample) {
  sample.stack = sample.link = 0;
  sample.attributes.clear();
  sample.values.clear();
  sample.times_unix_ns.clear();
}
template <class Message>
void Clear(Message& message) {
  message = {};
}

// Reads the next message in this field of `rest`. Returns false after the last one.
template <class Message>
Result<bool> NextInto(const Field& field, Bytes& rest, Bytes file, Message& message) {
  TRY_ASSIGN(const std::optional<Bytes> encoded, protobuf::NextMessage(field.number, rest, file));
  if (!encoded) return false;
  Clear(message);
  TRY(protobuf::DecodeInto(*encoded, file, message));
  return true;
}

}  // namespace

Result<Bytes> FindDictionary(Bytes file) {
  Bytes rest = file;
  TRY_ASSIGN(const std::optional<Bytes> dictionary,
             protobuf::NextMessage(kDictionary.number, rest, file));
  if (!dictionary) return Bytes();
  TRY_ASSIGN(const std::optional<Bytes> second,
             protobuf::NextMessage(kDictionary.number, rest, file));
  if (second) {
    return Fail(ErrorCode::kCorrupt, "two dictionaries: " + std::string(kJoinedFiles));
  }
  return *dictionary;
}

template <class Entry>
Result<const Entry*> TableCursor<Entry>::Next() {
  TRY_ASSIGN(const bool is_one, NextInto(kTable<Entry>, rest_, file_, entry_));
  return is_one ? &entry_ : nullptr;
}

template class TableCursor<Mapping>;
template class TableCursor<Location>;
template class TableCursor<Function>;
template class TableCursor<Link>;
template class TableCursor<KeyValueAndUnit>;
template class TableCursor<Stack>;

Result<std::vector<std::string_view>> DecodeTexts(Bytes dictionary, Bytes file, std::size_t limit) {
  std::vector<std::string_view> texts;
  while (true) {
    TRY_ASSIGN(const std::optional<Bytes> text,
               protobuf::NextMessage(kStringTable.number, dictionary, file));
    if (!text) return texts;
    if (texts.size() >= limit) {
      return Fail(ErrorCode::kCorrupt, "more than " + std::to_string(limit) +
                                           " texts, more than a file of this size can contain");
    }
    texts.push_back(AsText(*text));
  }
}

Status ProfileCursor::BeginResource(Bytes encoded) {
  ++resource_number_;
  resource_rest_ = encoded;
  // The resource may be after its profiles.
  TRY_ASSIGN(std::ignore, NextInto(kResource, encoded, file_, resource_));
  return {};
}

Status ProfileCursor::BeginScope(Bytes encoded) {
  ++scope_number_;
  scope_rest_ = encoded;
  TRY_ASSIGN(std::ignore, NextInto(kScope, encoded, file_, scope_));
  return {};
}

Result<bool> ProfileCursor::NextInScope() {
  TRY_ASSIGN(const std::optional<Bytes> profile,
             protobuf::NextMessage(kProfiles.number, scope_rest_, file_));
  if (!profile) return false;
  header_ = {};
  TRY(protobuf::DecodeInto(*profile, file_, header_));
  profile_rest_ = *profile;
  return true;
}

Result<bool> ProfileCursor::Next() {
  while (true) {
    TRY_ASSIGN(const bool is_one, NextInScope());
    if (is_one) return true;
    TRY_ASSIGN(const std::optional<Bytes> scope,
               protobuf::NextMessage(kScopeProfiles.number, resource_rest_, file_));
    if (scope) {
      scope_ = {};
      TRY(BeginScope(*scope));
      continue;
    }
    TRY_ASSIGN(const std::optional<Bytes> resource,
               protobuf::NextMessage(kResourceProfiles.number, rest_, file_));
    if (!resource) return false;
    resource_ = {};
    TRY(BeginResource(*resource));
  }
}

Result<const Sample*> ProfileCursor::NextSample() {
  TRY_ASSIGN(const bool is_one, NextInto(kSamples, profile_rest_, file_, sample_));
  return is_one ? &sample_ : nullptr;
}

bool LooksLikeProfilesData(Bytes beginning) {
  return protobuf::LooksLike<ProfilesData>(beginning);
}

}  // namespace perftape::otlp
