// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sentence.h"

#include <cstdint>
#include <string>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "tools/common/cli/escape.h"

namespace perftape::inspect {
namespace {

using Json = json::Value;

std::string ValueText(const Json& value) {
  if (const std::string* const text = value.AsText()) return cli::EscapeForTerminal(*text);
  if (const auto number = value.AsUnsigned()) return std::to_string(*number);
  if (const auto number = value.AsInteger()) return std::to_string(*number);
  std::string joined;
  for (const Json& element : value.elements()) {
    if (!joined.empty()) joined += ',';
    joined += ValueText(element);
  }
  return joined;
}

// `name` is what is between the braces.
std::string MemberText(std::string_view name, const Json& json) {
  const std::size_t bar = name.find('|');
  const std::string_view key = name.substr(0, bar);
  const Json* const value = key.empty() ? &json : json.Find(key);
  if (value == nullptr) return "";
  if (bar == std::string_view::npos) return ValueText(*value);
  const std::string_view unit = name.substr(bar + 1);
  const auto number = value->is_list() ? value->elements().size()
                                       : static_cast<std::uint64_t>(value->AsInteger().value_or(0));
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
