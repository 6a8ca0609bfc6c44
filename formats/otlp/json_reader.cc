// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/json_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/base/base64.h"
#include "formats/json/read.h"
#include "formats/otlp/json_fields.h"
#include "formats/otlp/layout.h"
#include "formats/protobuf/field_writer.h"

namespace perftape::otlp {
namespace {

enum class JsonType : std::uint8_t { kInteger, kBool, kDouble, kFixed64, kText, kBytes, kMessage };

struct MessageType;

struct FieldType {
  Field field = {};
  JsonType type = JsonType::kInteger;
  bool is_list = false;
  const MessageType& (*message)() = nullptr;  // of kMessage
};

struct MessageType {
  std::vector<FieldType> fields;
};

template <class Message>
const MessageType& TypeOf();

// Lists the fields of a layout.
class FieldLister {
 public:
  template <class T>
  void operator()(const Field& field, const T&) {
    Add<T>(field, false);
  }
  template <class T>
  void operator()(const Field& field, const std::optional<T>&) {
    Add<T>(field, false);
  }
  template <class T>
  void operator()(const Field& field, const std::vector<T>&) {
    Add<T>(field, true);
  }

  MessageType type;

 private:
  template <class T>
  void Add(const Field& field, bool is_list) {
    FieldType added = {.field = field, .is_list = is_list};
    if constexpr (std::is_same_v<T, bool>) {
      added.type = JsonType::kBool;
    } else if constexpr (std::is_same_v<T, double>) {
      added.type = JsonType::kDouble;
    } else if constexpr (std::is_same_v<T, Fixed64>) {
      added.type = JsonType::kFixed64;
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      added.type = JsonType::kText;
    } else if constexpr (std::is_same_v<T, EncodedBytes>) {
      added.type = JsonType::kBytes;
    } else if constexpr (!std::is_integral_v<T>) {
      added.type = JsonType::kMessage;
      added.message = &TypeOf<T>;
    }
    type.fields.push_back(added);
  }
};

template <class Message>
const MessageType& TypeOf() {
  static const MessageType kType = [] {
    static const Message kMessage;
    FieldLister lister;
    Layout(lister, kMessage);
    return std::move(lister.type);
  }();
  return kType;
}

// The ids that a file has in hexadecimal have so many bytes. In base64, 24 and 12 letters.
constexpr std::size_t kIdSizes[] = {16, 8};

std::optional<std::string> FromHex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const char* const end = text.data() + i + 2;
    if (std::from_chars(text.data() + i, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::optional<std::string> BytesOf(const Field& field, std::string_view text) {
  for (const std::size_t size : kIdSizes) {
    if (IsId(field.json_name) && text.size() == 2 * size) return FromHex(text);
  }
  return FromBase64(text);
}

template <class Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The bits of an integer in a text, signed or not.
std::optional<std::uint64_t> IntegerIn(std::string_view text) {
  if (text.starts_with('-')) {
    const std::optional<std::int64_t> value = NumberIn<std::int64_t>(text);
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }
  return NumberIn<std::uint64_t>(text);
}

std::optional<double> DoubleIn(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return kInfinity;
  if (text == "-Infinity") return -kInfinity;
  return NumberIn<double>(text);
}

// Encodes each value when it comes. A message is complete at its end; then it goes into the one
// around it.
class JsonEncoder final : public json::Handler {
 public:
  // Nothing if the text is no object.
  std::optional<std::string> Encoded() && {
    if (messages_.empty()) return std::nullopt;
    return std::move(messages_.front());
  }

  bool Null() override { return true; }
  bool Boolean(bool value) override {
    const FieldType* const field = Here();
    if (field == nullptr) return true;
    if (field->type != JsonType::kBool) return IsWrong(*field, "a bool");
    PutVarint(*field, value ? 1 : 0);
    return true;
  }
  bool Integer(std::int64_t value) override {
    return PutInteger(static_cast<std::uint64_t>(value), static_cast<double>(value));
  }
  bool Unsigned(std::uint64_t value) override {
    return PutInteger(value, static_cast<double>(value));
  }
  bool Real(double value) override {
    const FieldType* const field = Here();
    if (field == nullptr) return true;
    if (field->type == JsonType::kDouble) {
      PutFixed(*field, std::bit_cast<std::uint64_t>(value));
      return true;
    }
    constexpr double kMost = 9.2e18;
    const bool is_whole = std::isfinite(value) && std::trunc(value) == value;
    if (!is_whole || std::abs(value) > kMost) return IsWrong(*field, "a fraction");
    return PutInteger(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), value);
  }
  bool Text(std::string_view text) override {
    const FieldType* const field = Here();
    return field == nullptr || PutText(*field, text) || IsWrong(*field, "this text");
  }
  bool Key(std::string_view value) override {
    key_ = value;
    return true;
  }
  bool BeginObject() override {
    if (open_.empty()) return Open({.message = &TypeOf<ProfilesData>()});
    const FieldType* const field = Here();
    if (field == nullptr) return Open({});
    if (field->type != JsonType::kMessage) return IsWrong(*field, "an object");
    return Open({.message = &field->message(), .field = field});
  }
  bool EndObject() override {
    const OpenPart closed = open_.back();
    open_.pop_back();
    if (closed.message == nullptr || closed.field == nullptr) return true;
    const std::string encoded = std::move(messages_.back());
    messages_.pop_back();
    PutBytes(*closed.field, encoded);
    return true;
  }
  bool BeginList() override {
    const FieldType* const field = open_.empty() ? nullptr : Here();
    const bool is_list = field != nullptr && field->is_list && open_.back().message != nullptr;
    if (field != nullptr && !is_list) return IsWrong(*field, "an array");
    return Open({.field = field});
  }
  bool EndList() override {
    open_.pop_back();
    return true;
  }

 private:
  // An object has a message, its elements have the fields of that. An array has the field of its
  // elements. Both are null where the text is skipped.
  struct OpenPart {
    const MessageType* message = nullptr;
    const FieldType* field = nullptr;
  };

  // The field of the value that comes next; null if it is skipped.
  const FieldType* Here() const {
    if (open_.empty()) return nullptr;
    const OpenPart& open = open_.back();
    if (open.message == nullptr) return open.field;
    for (const FieldType& field : open.message->fields) {
      if (field.field.json_name == key_) return &field;
    }
    return nullptr;
  }

  bool Open(const OpenPart& part) {
    open_.push_back(part);
    if (part.message != nullptr) messages_.emplace_back();
    return true;
  }

  bool IsWrong(const FieldType& field, std::string_view what) {
    return Refuse(fmt::format("{} cannot be {}", field.field.json_name, what));
  }

  bool PutInteger(std::uint64_t value, double as_double) {
    const FieldType* const field = Here();
    if (field == nullptr) return true;
    if (field->type == JsonType::kInteger) {
      PutVarint(*field, value);
    } else if (field->type == JsonType::kFixed64) {
      PutFixed(*field, value);
    } else if (field->type == JsonType::kDouble) {
      PutFixed(*field, std::bit_cast<std::uint64_t>(as_double));
    } else {
      return IsWrong(*field, "a number");
    }
    return true;
  }

  bool PutText(const FieldType& field, std::string_view text) {
    if (field.type == JsonType::kText) {
      PutBytes(field, text);
    } else if (field.type == JsonType::kBytes) {
      const std::optional<std::string> bytes = BytesOf(field.field, text);
      if (!bytes) return false;
      PutBytes(field, *bytes);
    } else if (field.type == JsonType::kDouble) {
      const std::optional<double> value = DoubleIn(text);
      if (!value) return false;
      PutFixed(field, std::bit_cast<std::uint64_t>(*value));
    } else if (field.type == JsonType::kInteger || field.type == JsonType::kFixed64) {
      const std::optional<std::uint64_t> value = IntegerIn(text);
      if (!value) return false;
      field.type == JsonType::kInteger ? PutVarint(field, *value) : PutFixed(field, *value);
    } else {
      return false;
    }
    return true;
  }

  template <class Value>
  void Put(const FieldType& field, const Value& value) {
    // An optional is written also if it is 0, which is a value in a oneof.
    protobuf::AppendFields(messages_.back(),
                           [&](auto& fields) { fields(field.field, std::optional<Value>(value)); });
  }
  void PutVarint(const FieldType& field, std::uint64_t value) { Put(field, value); }
  void PutFixed(const FieldType& field, std::uint64_t value) { Put(field, Fixed64{value}); }
  void PutBytes(const FieldType& field, std::string_view bytes) { Put(field, bytes); }

  std::vector<OpenPart> open_;
  std::vector<std::string> messages_;  // encoded so far: one for each open message
  std::string key_;
};

}  // namespace

bool LooksLikeProfilesJson(std::string_view beginning) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto skip = [&](std::string_view expected) {
    beginning.remove_prefix(std::min(beginning.find_first_not_of(kSpace), beginning.size()));
    if (!beginning.starts_with(expected)) return false;
    beginning.remove_prefix(expected.size());
    return true;
  };
  if (!skip("{")) return false;
  if (skip("\"resourceProfiles\"")) return true;
  return skip("\"dictionary\"") && beginning.find("Table\"") != std::string_view::npos;
}

Result<std::string> EncodedOfJson(std::string_view text) {
  JsonEncoder encoder;
  TRY(json::Read(text, encoder));
  std::optional<std::string> encoded = std::move(encoder).Encoded();
  if (!encoded) return Fail(ErrorCode::kCorrupt, "at 0x0: not an object");
  return *std::move(encoded);
}

}  // namespace perftape::otlp
