// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/json_text.h"

#include <nlohmann/json.hpp>

#include "formats/base/unsafe_text.h"

namespace perftape::cli {

std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout) {
  const int indent = layout == JsonLayout::kIndented ? 2 : -1;
  constexpr bool kAsciiOnly = false;
  return EscapedJson(
             json.dump(indent, ' ', kAsciiOnly, nlohmann::ordered_json::error_handler_t::replace)) +
         '\n';
}

}  // namespace perftape::cli
