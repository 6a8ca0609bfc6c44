// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/writer.h"

#include <optional>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "formats/base/bytes.h"
#include "formats/pprof/layout.h"
#include "formats/pprof/utf8.h"

namespace perftape::pprof {
namespace {

// Writes the fields that it is shown. As in all of proto3, what is 0 is left out.
class FieldWriter {
 public:
  FieldWriter(const std::string& encoded, protozero::pbf_writer& out)
      : encoded_(encoded), out_(out) {}

  template <class Field>
  void operator()(Field field, std::uint64_t value) {
    if (value != 0) out_.add_uint64(std::to_underlying(field), value);
  }
  template <class Field>
  void operator()(Field field, std::int64_t value) {
    if (value != 0) out_.add_int64(std::to_underlying(field), value);
  }
  template <class Field>
  void operator()(Field field, bool value) {
    if (value) out_.add_bool(std::to_underlying(field), value);
  }
  template <class Field>
  void operator()(Field field, const std::vector<std::uint64_t>& values) {
    out_.add_packed_uint64(std::to_underlying(field), values.begin(), values.end());
  }
  template <class Field>
  void operator()(Field field, const std::vector<std::int64_t>& values) {
    out_.add_packed_int64(std::to_underlying(field), values.begin(), values.end());
  }
  template <class Field>
  void operator()(Field field, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) out_.add_string(std::to_underlying(field), text);
  }
  template <class Field, class Message>
  void operator()(Field field, const std::optional<Message>& message) {
    if (message) Nested(std::to_underlying(field), *message);
  }
  template <class Field, class Message>
  void operator()(Field field, const std::vector<Message>& messages) {
    for (const Message& message : messages) Nested(std::to_underlying(field), message);
  }

  template <class Message>
  void Nested(protozero::pbf_tag_type tag, const Message& message) {
    const std::size_t before = encoded_.size();
    {
      protozero::pbf_writer out(out_, tag);
      FieldWriter fields(encoded_, out);
      Layout(fields, message);
    }
    // protozero takes back a message without fields, but one of many counts.
    if (encoded_.size() == before) out_.add_message(tag, "", 0);
  }

 private:
  const std::string& encoded_;  // what `out_` appends to
  protozero::pbf_writer& out_;
};

template <class Message>
void AppendMessage(std::string& encoded, ProfileField field, const Message& message) {
  protozero::pbf_writer out(encoded);
  FieldWriter(encoded, out).Nested(std::to_underlying(field), message);
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
    protozero::pbf_writer(encoded_).add_string(std::to_underlying(ProfileField::kStringTable),
                                               valid);
  }
  return entry->second;
}

void Writer::Add(const Header& header) {
  protozero::pbf_writer out(encoded_);
  FieldWriter fields(encoded_, out);
  Layout(fields, header);
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

std::string Encode(const Profile& profile) {
  std::string encoded;
  protozero::pbf_writer out(encoded);
  FieldWriter fields(encoded, out);
  Layout(fields, profile);
  return encoded;
}

}  // namespace perftape::pprof
