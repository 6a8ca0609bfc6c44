// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sentence.h"

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;

std::string ValueText(const Json& value) {
  if (value.is_string()) return cli::EscapeForTerminal(value.get_ref<const std::string&>());
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number()) return std::to_string(value.get<std::int64_t>());
  std::string joined;
  for (const Json& element : value) {
    if (!joined.empty()) joined += ',';
    joined += ValueText(element);
  }
  return joined;
}

// `name` is what is between the braces.
std::string MemberText(std::string_view name, const Json& json) {
  const std::size_t bar = name.find('|');
  const std::string key(name.substr(0, bar));
  if (!key.empty() && !json.contains(key)) return "";
  const Json& value = key.empty() ? json : json[key];
  if (bar == std::string_view::npos) return ValueText(value);
  const std::string_view unit = name.substr(bar + 1);
  const std::uint64_t number = value.is_array() ? value.size() : value.get<std::uint64_t>();
  return unit == "s" ? SecondsText(number) : Counted(number, unit);
}

}  // namespace

std::string Sentence(std::string_view sentence, const Json& json) {
  std::string text;
  while (true) {
    const std::size_t open = sentence.find('{');
    text += sentence.substr(0, open);
    if (open == std::string_view::npos) return text;
    const std::size_t close = sentence.find('}', open);
    text += MemberText(sentence.substr(open + 1, close - open - 1), json);
    sentence.remove_prefix(close + 1);
  }
}

}  // namespace perftape::inspect
