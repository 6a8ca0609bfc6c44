// SPDX-License-Identifier: Apache-2.0
#include "formats/json/read.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "formats/base/joined_files.h"

namespace perftape::json {
namespace {

// A position in a text that tells others where it is: the parser does not pass the offset of an
// event.
class TextIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TextIterator(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  TextIterator& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  bool operator==(const TextIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TextIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

// Passes the events of the parser to a handler.
class Events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(std::string_view text, Handler& handler, std::size_t deepest)
      : text_(text), handler_(handler), deepest_(deepest) {}

  bool is_too_deep() const { return is_too_deep_; }
  const std::string& error() const { return error_; }

  bool null() override { return handler_.Null(); }
  bool boolean(bool value) override { return handler_.Boolean(value); }
  bool number_integer(number_integer_t value) override { return handler_.Integer(value); }
  bool number_unsigned(number_unsigned_t value) override { return handler_.Unsigned(value); }
  bool number_float(number_float_t value, const string_t&) override { return handler_.Real(value); }
  bool string(string_t& value) override { return handler_.Text(value); }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& value) override { return handler_.Key(value); }
  bool start_object(std::size_t) override { return Open() && handler_.BeginObject(); }
  bool end_object() override { return Close() && handler_.EndObject(); }
  bool start_array(std::size_t) override { return Open() && handler_.BeginList(); }
  bool end_array() override { return Close() && handler_.EndList(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    // `position` is the number of bytes that were read.
    const std::size_t last = std::min(position, text_.size()) - std::min<std::size_t>(position, 1);
    const bool is_second = has_ended_ && last < text_.size() && text_[last] == '{';
    error_ = is_second ? fmt::format("at 0x{:x}: {}", last, kJoinedFiles)
                       : fmt::format("at 0x{:x}: not JSON", position);
    return false;
  }

 private:
  bool Open() {
    is_too_deep_ = depth_ >= deepest_;
    ++depth_;
    return !is_too_deep_;
  }
  bool Close() {
    --depth_;
    has_ended_ = depth_ == 0;
    return true;
  }

  std::string_view text_;
  Handler& handler_;
  std::size_t deepest_;
  std::size_t depth_ = 0;  // of open objects and lists
  std::string error_;
  bool is_too_deep_ = false;
  bool has_ended_ = false;  // the object or list that is the whole text
};

}  // namespace

Status Read(std::string_view text, Handler& handler, std::size_t deepest) {
  Events events(text, handler, deepest);
  const char* seen = text.data();
  const TextIterator begin(text.data(), &seen);
  const TextIterator end(text.data() + text.size(), &seen);
  if (nlohmann::json::sax_parse(begin, end, &events)) return {};
  if (events.is_too_deep()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("objects and arrays are more than {} deep", deepest));
  }
  if (handler.refusal()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("at 0x{:x}: {}", seen - text.data(), *handler.refusal()));
  }
  return Fail(ErrorCode::kCorrupt, events.error());
}

}  // namespace perftape::json
