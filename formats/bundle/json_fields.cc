// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/json_fields.h"

#include <charconv>

#include "formats/base/utf8.h"

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
                         int max_depth) {
  if (text.size() > largest) {
    return Fail(ErrorCode::kUnsupported,
                std::string(name) + ": larger than " + std::to_string(largest));
  }
  const auto not_too_deep = [max_depth](int depth, Json::parse_event_t, Json&) {
    return depth <= max_depth;
  };
  Json json = Json::parse(text, not_too_deep, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Fail(ErrorCode::kCorrupt, std::string(name) + ": is not a JSON object");
  return json;
}

std::unexpected<Error> WrongField(const std::string& position, const std::string& field) {
  return Fail(ErrorCode::kCorrupt, position + ": " + field + " is not what it should be");
}

std::string Fields::Text(const std::string& key) {
  if (const Json* text = Find(key)) {
    Check(text->is_string(), key);
    return text->is_string() ? text->get<std::string>() : std::string();
  }
  const Json* hex = Find(key + "_hex");
  if (hex == nullptr) return {};
  auto bytes = hex->is_string() ? BytesOfHex(hex->get<std::string>()) : std::nullopt;
  Check(bytes.has_value(), key + "_hex");
  return bytes.value_or("");
}

std::uint64_t Fields::Number(const std::string& key) {
  const Json* number = Find(key);
  if (number == nullptr) return 0;
  Check(number->is_number_unsigned(), key);
  return number->is_number_unsigned() ? number->get<std::uint64_t>() : 0;
}

double Fields::Real(const std::string& key) {
  const Json* number = Find(key);
  if (number == nullptr) return 0;
  Check(number->is_number(), key);
  return number->is_number() ? number->get<double>() : 0;
}

bool Fields::Flag(const std::string& key) {
  const Json* flag = Find(key);
  if (flag == nullptr) return false;
  Check(flag->is_boolean(), key);
  return flag->is_boolean() && flag->get<bool>();
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
  Check(list->is_array(), key);
  return list->is_array() ? std::span<const Json>(*list->get_ptr<const Json::array_t*>())
                          : std::span<const Json>();
}

const Json* Fields::Find(const std::string& key) const {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

}  // namespace perftape::bundle
