// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/writer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <protozero/types.hpp>

#include "formats/base/bytes.h"
#include "formats/pprof/layout.h"
#include "formats/pprof/utf8.h"

namespace perftape::pprof {
namespace {

using protozero::pbf_wire_type;

std::uint64_t KeyOf(std::uint32_t field, pbf_wire_type type) {
  return std::uint64_t{field} << 3 | std::to_underlying(type);
}

// The size of a varint: 7 bits per byte, at least one byte.
std::size_t SizeOf(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Counts the bytes that are written to it.
class Counter {
 public:
  void Varint(std::uint64_t value) { size_ += SizeOf(value); }
  void Text(std::string_view text) { size_ += text.size(); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

// Writes bytes to memory that a Counter has measured.
class Pen {
 public:
  explicit Pen(char* at) : at_(at) {}
  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  void Text(std::string_view text) { at_ = std::ranges::copy(text, at_).out; }

 private:
  char* at_;
};

template <class Message>
std::size_t SizeOfFields(const Message& message);

// Writes the fields that it visits. As in all of proto3, numbers that are 0 are left out.
template <class Out>
class FieldWriter {
 public:
  explicit FieldWriter(Out& out) : out_(out) {}

  template <class Field>
  void operator()(Field field, std::uint64_t value) {
    if (value == 0) return;
    out_.Varint(KeyOf(std::to_underlying(field), pbf_wire_type::varint));
    out_.Varint(value);
  }
  template <class Field>
  void operator()(Field field, std::int64_t value) {
    (*this)(field, static_cast<std::uint64_t>(value));
  }
  template <class Field>
  void operator()(Field field, bool value) {
    (*this)(field, std::uint64_t{value});
  }
  template <class Field>
  void operator()(Field field, const std::vector<std::uint64_t>& values) {
    Packed(field, values);
  }
  template <class Field>
  void operator()(Field field, const std::vector<std::int64_t>& values) {
    Packed(field, values);
  }
  template <class Field>
  void operator()(Field field, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) Text(field, text);
  }
  template <class Field, class Message>
  void operator()(Field field, const std::optional<Message>& message) {
    if (message) Nested(field, *message);
  }
  template <class Field, class Message>
  void operator()(Field field, const std::vector<Message>& messages) {
    for (const Message& message : messages) Nested(field, message);
  }

  template <class Field>
  void Text(Field field, std::string_view text) {
    Begin(field, text.size());
    out_.Text(text);
  }

  template <class Field, class Message>
  void Nested(Field field, const Message& message) {
    Begin(field, SizeOfFields(message));
    Layout(*this, message);
  }

 private:
  template <class Field>
  void Begin(Field field, std::size_t size) {
    out_.Varint(KeyOf(std::to_underlying(field), pbf_wire_type::length_delimited));
    out_.Varint(size);
  }

  template <class Field, class Number>
  void Packed(Field field, const std::vector<Number>& values) {
    if (values.empty()) return;
    Counter size;
    for (const Number value : values) size.Varint(static_cast<std::uint64_t>(value));
    Begin(field, size.size());
    for (const Number value : values) out_.Varint(static_cast<std::uint64_t>(value));
  }

  Out& out_;
};

template <class Message>
std::size_t SizeOfFields(const Message& message) {
  Counter counter;
  FieldWriter fields(counter);
  Layout(fields, message);
  return counter.size();
}

// Appends what `put` writes to a FieldWriter. Calls `put` twice, first to count the bytes.
template <class Put>
void Append(std::string& encoded, Put put) {
  Counter counter;
  FieldWriter count(counter);
  put(count);
  const std::size_t before = encoded.size();
  encoded.resize(before + counter.size());
  Pen pen(encoded.data() + before);
  FieldWriter write(pen);
  put(write);
}

template <class Message>
void AppendMessage(std::string& encoded, ProfileField field, const Message& message) {
  Append(encoded, [&](auto& fields) { fields.Nested(field, message); });
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
    Append(encoded_, [&](auto& fields) { fields.Text(ProfileField::kStringTable, valid); });
  }
  return entry->second;
}

void Writer::Add(const Header& header) {
  Append(encoded_, [&](auto& fields) { Layout(fields, header); });
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
  Append(encoded, [&](auto& fields) { Layout(fields, profile); });
  return encoded;
}

}  // namespace perftape::pprof
