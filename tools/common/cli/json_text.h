// SPDX-License-Identifier: Apache-2.0
// JSON as the tools print it.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace perftape::cli {

enum class JsonLayout : std::uint8_t { kOneLine, kIndented };

// The value and a line end. Names come from files: what of them is no UTF-8 becomes U+FFFD, and
// what a terminal or the next reader must not get raw (formats/base/unsafe_text.h) is escaped.
std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout);

}  // namespace perftape::cli
