// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/format_options.h"

#include "formats/base/text.h"

namespace perftape::cli {
namespace {

bool CanRead(const convert::Format& format) {
  return format.read != nullptr;
}

}  // namespace

std::vector<Offer> InputFormats() {
  std::vector<Offer> offers;
  for (const convert::Format& format : convert::AllFormats()) {
    if (CanRead(format)) offers.push_back({.word = std::string(format.name)});
  }
  return offers;
}

std::vector<Offer> OutputFormats() {
  std::vector<Offer> offers;
  for (const convert::Format& format : convert::AllFormats()) {
    if (!CanWrite(format)) continue;
    offers.push_back({.word = std::string(format.name), .note = Joined(format.endings, ", ")});
  }
  return offers;
}

Result<const convert::Format*> ParseInputFormat(std::string_view option, std::string_view text) {
  const convert::Format* format = convert::FindFormat(text);
  if (format != nullptr && CanRead(*format)) return format;
  return UnknownValue(option, text, InputFormats());
}

Result<const convert::Format*> ParseOutputFormat(std::string_view option, std::string_view text) {
  const convert::Format* format = convert::FindFormat(text);
  if (format != nullptr && CanWrite(*format)) return format;
  return UnknownValue(option, text, OutputFormats());
}

bool CanWrite(const convert::Format& format) {
  return format.write != nullptr || format.rewrite != nullptr;
}

}  // namespace perftape::cli
