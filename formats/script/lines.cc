// SPDX-License-Identifier: Apache-2.0
#include "formats/script/lines.h"

#include <algorithm>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/utf8_text.h"

namespace perftape::script {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;

}  // namespace

Lines::Lines(Input& input) : input_(input.is_stream() ? &input : nullptr) {
  const std::size_t mark = SizeOfUtf8Mark(AsText(input.beginning()));
  if (input.is_stream()) {
    input.Consume(mark);
  } else {
    rest_ = AsText(input.beginning()).substr(mark);
  }
  position_ = mark;
}

bool Lines::Next(std::string_view& line) {
  while (true) {
    const std::size_t end = FindEnd();
    if (rest_.empty()) return false;
    ++number_;
    const std::size_t size = std::min(end, rest_.size());
    const bool is_too_long = size > kLongest;
    if (is_too_long && too_long_++ == 0) first_too_long_ = number_;
    if (is_too_long && end == std::string_view::npos) {
      SkipLine();
      continue;
    }
    line = rest_.substr(0, size);
    const std::size_t with_end = std::min(size + 1, rest_.size());
    rest_.remove_prefix(with_end);
    position_ += with_end;
    if (is_too_long) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

std::size_t Lines::FindEnd() {
  std::size_t end = rest_.find('\n');
  while (end == std::string_view::npos && rest_.size() <= kLongest) {
    const std::size_t known = rest_.size();
    if (!ReadBlock()) break;
    end = rest_.find('\n', known);
  }
  return end;
}

void Lines::SkipLine() {
  const std::size_t kept = blocks_.size();
  while (true) {
    const std::size_t end = rest_.find('\n');
    const std::size_t size = end == std::string_view::npos ? rest_.size() : end + 1;
    rest_.remove_prefix(size);
    position_ += size;
    if (end != std::string_view::npos) return;
    if (blocks_.size() > kept) blocks_.pop_back();
    if (!ReadBlock()) return;
  }
}

void Lines::Release() {
  while (blocks_.size() > 1) blocks_.pop_front();
}

bool Lines::ReadBlock() {
  if (input_ == nullptr) return false;
  const Bytes window = input_->Window(0, kBlock);
  if (window.empty()) return false;
  std::string block(rest_);
  block += AsText(window);
  input_->Consume(window.size());
  blocks_.push_back(std::move(block));
  rest_ = blocks_.back();
  return true;
}

}  // namespace perftape::script
