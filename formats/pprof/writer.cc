// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/writer.h"

#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/utf8.h"
#include "formats/pprof/layout.h"
#include "formats/protobuf/field_writer.h"

namespace perftape::pprof {
namespace {

using protobuf::AppendFields;

template <class Message>
void AppendMessage(std::string& encoded, ProfileField field, const Message& message) {
  AppendFields(encoded, [&](auto& fields) { fields.Nested(field, message); });
}

}  // namespace

Writer::Writer() {
  Text("");
}

StringIndex Writer::Text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::string valid = ToValidUtf8(text);
  const auto [entry, is_new] = texts_.emplace(valid, static_cast<StringIndex>(texts_.size()));
  if (is_new) {
    AppendFields(encoded_, [&](auto& fields) { fields.Text(ProfileField::kStringTable, valid); });
  }
  return entry->second;
}

void Writer::Add(const Header& header) {
  AppendFields(encoded_, [&](auto& fields) { Layout(fields, header); });
}
void Writer::Add(const Mapping& mapping) {
  AppendMessage(encoded_, ProfileField::kMapping, mapping);
}
void Writer::Add(const Location& location) {
  AppendMessage(encoded_, ProfileField::kLocation, location);
}
void Writer::Add(const Function& function) {
  AppendMessage(encoded_, ProfileField::kFunction, function);
}
void Writer::Add(const Sample& sample) {
  AppendMessage(encoded_, ProfileField::kSample, sample);
}

Result<std::vector<std::byte>> Writer::Finish(int level) && {
  return Gzip(AsBytes(encoded_), level);
}

std::vector<std::byte> Writer::FinishPlain() && {
  const Bytes bytes = AsBytes(encoded_);
  return {bytes.begin(), bytes.end()};
}

}  // namespace perftape::pprof
