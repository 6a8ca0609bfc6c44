// SPDX-License-Identifier: Apache-2.0
// Names from files and processes, escaped for the outputs of tools: a terminal, and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace perftape::cli {

// Returns `text` with its unsafe characters (formats/base/unsafe_text.h) made visible. Control
// characters become \t, \n, \r or \x1b, and bytes that are not UTF-8 \xff. Bidirectional controls
// and Unicode's line ends become \u202e and the like. All other characters stay, including
// backslashes.
std::string EscapeForTerminal(std::string_view text);

enum class JsonLayout : std::uint8_t { kOneLine, kIndented };

// Returns the value with a line end. Names come from files: bytes that are not UTF-8 become U+FFFD,
// and unsafe characters (formats/base/unsafe_text.h) are escaped.
std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout);

}  // namespace perftape::cli
