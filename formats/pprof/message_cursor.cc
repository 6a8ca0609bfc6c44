// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/message_cursor.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <protozero/exception.hpp>

#include "formats/pprof/field_reader.h"

namespace perftape::pprof {
namespace {

using protozero::pbf_wire_type;

std::unexpected<Error> Damaged(std::size_t offset, const protozero::exception& error) {
  std::string hex;
  do {
    hex.insert(hex.begin(), "0123456789abcdef"[offset % 16]);
    offset /= 16;
  } while (offset != 0);
  return Fail(ErrorCode::kCorrupt, "at 0x" + hex + ": damaged or cut protobuf: " + error.what());
}

protozero::pbf_reader ReaderOf(Bytes bytes) {
  const std::string_view text = AsText(bytes);
  return {text.data(), text.size()};
}

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

// Visits the fields of a message, and checks whether one has the number and the wire type of the
// field that `in` is at. A list of numbers may be packed, so it has two types.
class FieldMatcher {
 public:
  FieldMatcher(std::uint32_t tag, pbf_wire_type type) : tag_(tag), type_(type) {}

  template <class Field, class T>
  void operator()(Field field, const T&) {
    if (tag_ != std::to_underlying(field)) return;
    constexpr bool kIsNumber = std::is_integral_v<T>;
    constexpr bool kIsList = std::is_same_v<T, std::vector<std::uint64_t>> ||
                             std::is_same_v<T, std::vector<std::int64_t>>;
    matches_ = (type_ == pbf_wire_type::varint && (kIsNumber || kIsList)) ||
               (type_ == pbf_wire_type::length_delimited && !kIsNumber);
  }

  bool matches() const { return matches_; }

 private:
  std::uint32_t tag_;
  pbf_wire_type type_;
  bool matches_ = false;
};

template <class Message>
bool HasOnlyFieldsOf(protozero::pbf_reader in) {
  static const Message kMessage;
  while (in.next()) {
    FieldMatcher field(in.tag(), in.wire_type());
    Layout(field, kMessage);
    if (!field.matches()) return false;
    in.skip();
  }
  return true;
}

// Whether a length-delimited field shows that the bytes are a profile.
enum class Verdict : std::uint8_t { kYes, kNo, kOpen };

template <class Message>
Verdict JudgeMessage(protozero::pbf_reader in) {
  return HasOnlyFieldsOf<Message>(in) ? Verdict::kYes : Verdict::kNo;
}

// Checks the field that `in` is at, and moves `in` after it.
Verdict Judge(ProfileField field, protozero::pbf_reader& in) {
  const protozero::pbf_reader content = in.get_message();
  switch (field) {
    case ProfileField::kSampleType:
    case ProfileField::kPeriodType:
      return JudgeMessage<ValueType>(content);
    case ProfileField::kSample:
      return JudgeMessage<Sample>(content);
    case ProfileField::kMapping:
      return JudgeMessage<Mapping>(content);
    case ProfileField::kLocation:
      return JudgeMessage<Location>(content);
    case ProfileField::kFunction:
      return JudgeMessage<Function>(content);
    // The first text is empty. In a text file, its length would be a NUL.
    case ProfileField::kStringTable:
      return content.length() == 0 ? Verdict::kYes : Verdict::kOpen;
    default:
      return Verdict::kOpen;
  }
}

}  // namespace

template <class Message>
Result<const Message*> MessageCursor<Message>::Next() {
  try {
    protozero::pbf_reader in = ReaderOf(rest_);
    while (in.next()) {
      if (in.tag() == std::to_underlying(kTable<Message>) &&
          in.has_wire_type(pbf_wire_type::length_delimited)) {
        Clear(message_);
        DecodeMessage(in.get_message(), message_);
        rest_ = rest_.last(in.length());
        return &message_;
      }
      in.skip();
      rest_ = rest_.last(in.length());
    }
  } catch (const protozero::exception& error) {
    return Damaged(encoded_.size() - rest_.size(), error);
  }
  return nullptr;
}

template class MessageCursor<Sample>;
template class MessageCursor<Mapping>;
template class MessageCursor<Location>;
template class MessageCursor<Function>;

Result<Header> DecodeHeader(Bytes encoded) {
  Header header;
  try {
    DecodeMessage(ReaderOf(encoded), header);
  } catch (const protozero::exception& error) {
    return Damaged(0, error);
  }
  return header;
}

Result<std::vector<std::string_view>> DecodeTexts(Bytes encoded, std::size_t limit) {
  std::vector<std::string_view> texts;
  try {
    protozero::pbf_reader in = ReaderOf(encoded);
    while (
        in.next(std::to_underlying(ProfileField::kStringTable), pbf_wire_type::length_delimited)) {
      const protozero::data_view text = in.get_view();
      if (texts.size() >= limit) {
        return Fail(ErrorCode::kCorrupt, "more than " + std::to_string(limit) +
                                             " texts, more than a file of this size can mean");
      }
      texts.emplace_back(text.data(), text.size());
    }
  } catch (const protozero::exception& error) {
    return Damaged(0, error);
  }
  return texts;
}

bool LooksLikeProfile(Bytes beginning) {
  static const Profile kProfile;
  bool is_one = false;
  try {
    protozero::pbf_reader in = ReaderOf(beginning);
    while (in.next()) {
      FieldMatcher field(in.tag(), in.wire_type());
      Layout(field, kProfile);
      if (!field.matches()) return false;
      if (in.wire_type() != pbf_wire_type::length_delimited) {
        in.skip();
        continue;
      }
      const Verdict verdict = Judge(ProfileField{in.tag()}, in);
      if (verdict == Verdict::kNo) return false;
      is_one |= verdict == Verdict::kYes;
    }
  } catch (const protozero::exception&) {
    // The bytes end inside a message, or are not protobuf.
  }
  return is_one;
}

}  // namespace perftape::pprof
