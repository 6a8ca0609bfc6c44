// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/message_files.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "formats/base/zstd.h"
#include "formats/otlp/json_reader.h"
#include "formats/otlp/reader.h"

namespace perftape::otlp {
namespace {

constexpr std::size_t kLengthSize = sizeof(std::uint32_t);
constexpr std::string_view kSpace = " \t\r\n";

bool IsZstd(Bytes bytes) {
  return bytes.size() >= sizeof(std::uint32_t) &&
         LoadFixed<std::uint32_t>(bytes.data(), std::endian::little) == kZstdFrameMagic;
}

bool BeginsWithLength(Bytes beginning) {
  if (beginning.size() <= kLengthSize) return false;
  const auto size = LoadFixed<std::uint32_t>(beginning.data(), std::endian::big);
  const Bytes rest = beginning.subspan(kLengthSize);
  const Bytes message = rest.first(std::min<std::size_t>(rest.size(), size));
  return IsZstd(message) || LooksLikeProfilesJson(AsText(message)) ||
         LooksLikeProfilesData(message);
}

// Returns the size of the object or array that `text` begins with; nothing if its end is missing.
std::optional<std::size_t> SizeOfJsonValue(std::string_view text) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      is_in_string = c != '"';
      continue;
    }
    is_in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) return i + 1;
  }
  return {};
}

}  // namespace

std::optional<Framing> FramingOf(Bytes beginning) {
  if (LooksLikeProfilesJson(AsText(beginning))) return Framing::kJson;
  if (LooksLikeProfilesData(beginning)) return Framing::kOne;
  if (BeginsWithLength(beginning)) return Framing::kLengths;
  return {};
}

Bytes MessageCursor::Skip(std::size_t size) {
  end_ = begin_ + size;
  return file_.subspan(begin_, size);
}

std::optional<Bytes> MessageCursor::Next() {
  const bool is_first = end_ == 0;
  begin_ = end_;
  if (is_cut_ || begin_ >= file_.size()) return {};
  if (framing_ == Framing::kOne) return Skip(file_.size());
  const auto message = framing_ == Framing::kJson ? NextJson() : NextWithLength();
  is_cut_ = !message && begin_ < file_.size();
  if (is_cut_ && is_first && framing_ == Framing::kJson) return Skip(file_.size() - begin_);
  return message;
}

std::optional<Bytes> MessageCursor::NextJson() {
  const std::string_view text = AsText(file_);
  begin_ = std::min(text.find_first_not_of(kSpace, begin_), text.size());
  if (begin_ == text.size()) return {};
  // What is no object is an error of its reader.
  if (text[begin_] != '{') return Skip(text.size() - begin_);
  const auto size = SizeOfJsonValue(text.substr(begin_));
  return size ? std::optional(Skip(*size)) : std::nullopt;
}

std::optional<Bytes> MessageCursor::NextWithLength() {
  const Bytes rest = file_.subspan(begin_);
  if (rest.size() < kLengthSize) return {};
  const auto size = LoadFixed<std::uint32_t>(rest.data(), std::endian::big);
  if (size > rest.size() - kLengthSize) return {};
  begin_ += kLengthSize;
  return Skip(size);
}

}  // namespace perftape::otlp
