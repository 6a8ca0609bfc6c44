// SPDX-License-Identifier: Apache-2.0
#include "formats/json/write.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"

namespace perftape::json {
namespace {

bool IsPlain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// Appends a string of JSON, in which the parser's library has left unsafe characters that JSON
// allows: DEL, C1 controls and marks of bidirectional text.
void AppendWithoutUnsafe(std::string& out, std::string_view json) {
  std::size_t done = 0;
  while (const auto unsafe = FindUnsafe(json, done)) {
    out += json.substr(done, unsafe->at - done);
    AppendFormat(out, "\\u{:04x}", static_cast<unsigned>(unsafe->value));
    done = unsafe->at + unsafe->size;
  }
  out += json.substr(done);
}

void AppendText(std::string& out, const std::string& text) {
  if (std::ranges::all_of(text, IsPlain)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  constexpr bool kAsciiOnly = false;
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  AppendWithoutUnsafe(out, nlohmann::json(text).dump(-1, ' ', kAsciiOnly, kReplace));
}

template <class Integer>
void AppendInteger(std::string& out, Integer number) {
  char digits[24];
  out.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

}  // namespace

class Writer {
 public:
  Writer(std::string& out, Layout layout) : out_(out), step_(std::to_underlying(layout)) {}

  void Write(const Value& value) {
    std::visit([this](const auto& of_type) { Append(of_type); }, value.value_);
  }

 private:
  void Append(std::nullptr_t) { out_ += "null"; }
  void Append(bool value) { out_ += value ? "true" : "false"; }
  void Append(std::int64_t value) { AppendInteger(out_, value); }
  void Append(std::uint64_t value) { AppendInteger(out_, value); }
  void Append(double value) { out_ += nlohmann::json(value).dump(); }
  void Append(const std::string& text) { AppendText(out_, text); }
  void Append(const List& list) {
    AppendAll('[', list, ']', [this](const Value& element) { Write(element); });
  }
  void Append(const Members& members) {
    AppendAll('{', members, '}', [this](const Member& member) {
      AppendText(out_, member.key);
      out_ += step_ == 0 ? ":" : ": ";
      Write(member.value);
    });
  }

  template <class Entries, class Add>
  void AppendAll(char open, const Entries& entries, char close, Add add) {
    out_ += open;
    indent_ += step_;
    for (const auto& entry : entries) {
      if (&entry != &entries.front()) out_ += ',';
      EndLine();
      add(entry);
    }
    indent_ -= step_;
    if (!entries.empty()) EndLine();
    out_ += close;
  }

  void EndLine() {
    if (step_ == 0) return;
    out_ += '\n';
    out_.append(indent_, ' ');
  }

  std::string& out_;
  std::size_t step_;
  std::size_t indent_ = 0;
};

std::string Text(const Value& value, Layout layout) {
  std::string text;
  Writer(text, layout).Write(value);
  text += '\n';
  return text;
}

}  // namespace perftape::json
