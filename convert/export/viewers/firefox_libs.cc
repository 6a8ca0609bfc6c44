// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/firefox_libs.h"

#include <algorithm>
#include <cstddef>

#include "convert/export/viewers/json_string.h"
#include "convert/model/profile.h"

namespace perftape::viewers {
namespace {

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

char UpperCase(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

std::string BreakpadIdOf(std::string_view build_id) {
  // The bytes of a GUID's first three fields, of 4, 2 and 2 bytes, are reversed.
  constexpr std::size_t kOrder[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  if (build_id.empty() || !std::ranges::all_of(build_id, IsHexDigit)) return {};
  std::string digits(build_id.substr(0, 2 * std::size(kOrder)));
  digits.resize(2 * std::size(kOrder), '0');
  std::string id;
  for (const std::size_t byte : kOrder) {
    id += UpperCase(digits[2 * byte]);
    id += UpperCase(digits[2 * byte + 1]);
  }
  return id + '0';
}

void AppendFirefoxLib(std::string& out, const FirefoxLib& lib) {
  const std::string_view name = convert::BaseName(lib.path);
  const auto append = [&out](std::string_view key, std::string_view text) {
    out += key;
    AppendJsonString(out, text);
  };
  append("{\"arch\":", lib.arch);
  append(",\"name\":", name);
  append(",\"path\":", lib.path);
  append(",\"debugName\":", name);
  append(",\"debugPath\":", lib.path);
  append(",\"breakpadId\":", BreakpadIdOf(lib.build_id));
  if (lib.build_id.empty()) {
    out += ",\"codeId\":null}";
    return;
  }
  append(",\"codeId\":", lib.build_id);
  out += '}';
}

}  // namespace perftape::viewers
