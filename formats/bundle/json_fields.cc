// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/json_fields.h"

#include <charconv>

#include "formats/base/utf8.h"
#include "formats/json/parse.h"

namespace perftape::bundle {
namespace {

std::string HexOf(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::optional<std::string> BytesOfHex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* end = text.data() + i + 2;
    const auto [stopped, error] = std::from_chars(text.data() + i, end, byte, 16);
    if (error != std::errc{} || stopped != end) return {};
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

void Put(Json& object, const std::string& key, const std::string& text) {
  if (text.empty()) return;
  if (IsUtf8(text)) {
    object[key] = text;
  } else {
    object[key + "_hex"] = HexOf(text);
  }
}

Result<Json> ParseObject(std::string_view name, std::string_view text, std::size_t largest,
                         std::size_t max_depth) {
  if (text.size() > largest) {
    return Fail(ErrorCode::kUnsupported,
                std::string(name) + ": larger than " + std::to_string(largest));
  }
  Result<Json> object = json::Parse(text, max_depth);
  if (!object || !object->is_object())
    return Fail(ErrorCode::kCorrupt, std::string(name) + ": is not a JSON object");
  return object;
}

std::unexpected<Error> WrongField(const std::string& position, const std::string& field) {
  return Fail(ErrorCode::kCorrupt, position + ": " + field + " is not what it should be");
}

std::string Fields::Text(const std::string& key) {
  if (const Json* value = Find(key)) {
    const std::string* const text = value->AsText();
    Check(text != nullptr, key);
    return text == nullptr ? std::string() : *text;
  }
  const Json* value = Find(key + "_hex");
  if (value == nullptr) return {};
  const std::string* const hex = value->AsText();
  auto bytes = hex == nullptr ? std::nullopt : BytesOfHex(*hex);
  Check(bytes.has_value(), key + "_hex");
  return bytes.value_or("");
}

std::uint64_t Fields::Number(const std::string& key) {
  const Json* value = Find(key);
  if (value == nullptr) return 0;
  const std::optional<std::uint64_t> number = value->AsUnsigned();
  Check(number.has_value(), key);
  return number.value_or(0);
}

double Fields::Real(const std::string& key) {
  const Json* value = Find(key);
  if (value == nullptr) return 0;
  const std::optional<double> number = value->AsNumber();
  Check(number.has_value(), key);
  return number.value_or(0);
}

bool Fields::Flag(const std::string& key) {
  const Json* value = Find(key);
  if (value == nullptr) return false;
  const std::optional<bool> flag = value->AsBool();
  Check(flag.has_value(), key);
  return flag.value_or(false);
}

std::uint64_t Fields::Address(const std::string& key) {
  const std::string text = Text(key);
  if (text.empty()) return 0;
  std::uint64_t address = 0;
  const char* end = text.data() + text.size();
  const char* digits = text.data() + std::min<std::size_t>(text.size(), 2);
  const auto [stopped, error] = std::from_chars(digits, end, address, 16);
  Check(text.starts_with("0x") && error == std::errc{} && stopped == end, key);
  return address;
}

perftape::BuildId Fields::BuildId(const std::string& key) {
  const std::string text = Text(key);
  if (text.empty()) return {};
  const auto id = perftape::BuildId::FromHex(text);
  Check(id.has_value(), key);
  return id.value_or(perftape::BuildId());
}

std::span<const Json> Fields::List(const std::string& key) {
  const Json* list = Find(key);
  if (list == nullptr) return {};
  Check(list->is_list(), key);
  return list->elements();
}

}  // namespace perftape::bundle
