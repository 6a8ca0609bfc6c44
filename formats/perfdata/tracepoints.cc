// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/tracepoints.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace perftape::perfdata {
namespace {

constexpr std::string_view kTracingMagic = "\x17\x08\x44tracing";

// A cursor over the blob.
class Blob {
 public:
  explicit Blob(Bytes bytes) : at_(bytes) {}

  bool ok() const { return at_.ok(); }
  // Sets the byte order of the numbers that follow.
  void SetOrder(std::endian order) {
    Bytes rest;
    at_.Blob(rest, at_.remaining());
    at_ = ByteReader(rest, order);
  }
  // The text up to its NUL. Without a NUL, ok() becomes false.
  std::string_view Text() {
    const std::string_view text = at_.Rest();
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) at_.Break();
    at_.Padding(at_.ok() ? end + 1 : 0);
    return text.substr(0, end);
  }
  template <class Number>
  Number Fixed() {
    Number number = {};
    at_.Fixed(number);
    return number;
  }
  Bytes Sized(std::uint64_t size) {
    Bytes bytes;
    at_.Blob(bytes, size);
    return bytes;
  }

 private:
  ByteReader at_;
};

// The value of `key` ("name: " or "ID: "), which begins a line of a tracefs format file.
std::string_view ValueOf(std::string_view format, std::string_view key) {
  for (std::size_t line = 0; line < format.size();) {
    const std::size_t end = std::min(format.find('\n', line), format.size());
    const std::string_view text = format.substr(line, end - line);
    if (text.starts_with(key)) return text.substr(key.size());
    line = end + 1;
  }
  return {};
}

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return number;
}

void SkipHeaders(Blob& blob) {
  for (int file = 0; file < 2; ++file) {  // header_page, header_event
    blob.Text();
    blob.Sized(blob.Fixed<std::uint64_t>());
  }
  const auto ftrace_formats = blob.Fixed<std::uint32_t>();
  for (std::uint32_t i = 0; i < ftrace_formats && blob.ok(); ++i) {
    blob.Sized(blob.Fixed<std::uint64_t>());
  }
}

}  // namespace

std::map<std::uint64_t, std::string> TracepointNames(Bytes tracing_data) {
  std::map<std::uint64_t, std::string> names;
  Blob blob(tracing_data);
  if (AsText(blob.Sized(kTracingMagic.size())) != kTracingMagic) return names;
  blob.Text();  // version
  const bool is_big = blob.Fixed<std::uint8_t>() != 0;
  blob.SetOrder(is_big ? std::endian::big : std::endian::little);
  blob.Fixed<std::uint8_t>();   // size of a long
  blob.Fixed<std::uint32_t>();  // size of a page
  SkipHeaders(blob);
  const auto systems = blob.Fixed<std::uint32_t>();
  for (std::uint32_t system = 0; system < systems && blob.ok(); ++system) {
    const std::string_view system_name = blob.Text();
    const auto events = blob.Fixed<std::uint32_t>();
    for (std::uint32_t event = 0; event < events && blob.ok(); ++event) {
      const std::string_view format = AsText(blob.Sized(blob.Fixed<std::uint64_t>()));
      const std::string_view name = ValueOf(format, "name: ");
      const std::optional<std::uint64_t> id = ParseNumber(ValueOf(format, "ID: "));
      if (!id || name.empty()) continue;
      names.try_emplace(*id, std::string(system_name).append(1, ':').append(name));
    }
  }
  return names;
}

}  // namespace perftape::perfdata
