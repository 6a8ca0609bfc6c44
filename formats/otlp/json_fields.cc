// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/json_fields.h"

#include <cmath>

#include "formats/base/base64.h"
#include "formats/base/bytes.h"
#include "formats/base/text.h"
#include "formats/json/string.h"

namespace perftape::otlp {

void AppendJson(std::string& out, std::string_view text) {
  json::AppendString(out, text);
}

void AppendJson(std::string& out, EncodedBytes bytes) {
  out += '"';
  out += Base64(AsBytes(bytes.bytes));
  out += '"';
}

void AppendJsonId(std::string& out, EncodedBytes id) {
  out += '"';
  for (const char c : id.bytes) AppendFormat(out, "{:02x}", static_cast<unsigned char>(c));
  out += '"';
}

void AppendJson(std::string& out, bool value) {
  out += value ? "true" : "false";
}

void AppendJson(std::string& out, std::int32_t value) {
  AppendFormat(out, "{}", value);
}

void AppendJson(std::string& out, std::int64_t value) {
  AppendFormat(out, "\"{}\"", value);
}

void AppendJson(std::string& out, std::uint64_t value) {
  AppendFormat(out, "\"{}\"", value);
}

void AppendJson(std::string& out, Fixed64 value) {
  AppendJson(out, value.value);
}

void AppendJson(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  } else {
    AppendFormat(out, "{}", value);
  }
}

}  // namespace perftape::otlp
