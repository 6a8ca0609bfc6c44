// SPDX-License-Identifier: Apache-2.0
// Formats JSON for all tools.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace perftape::cli {

enum class JsonLayout : std::uint8_t { kOneLine, kIndented };

// Returns the value with a line end. Names come from files: bytes that are not UTF-8 become U+FFFD,
// and unsafe characters (formats/base/unsafe_text.h) are escaped.
std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout);

}  // namespace perftape::cli
