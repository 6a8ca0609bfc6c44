// SPDX-License-Identifier: Apache-2.0
// Lists of words in the constant tables of options, where a list takes no more room than a text.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace perftape::cli {

// Words, separated by single blanks: "html svg". The text must outlive the object.
class Words {
 public:
  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;

    constexpr Iterator() = default;
    constexpr explicit Iterator(std::string_view rest) : rest_(rest) {}

    constexpr std::string_view operator*() const { return rest_.substr(0, rest_.find(' ')); }
    constexpr Iterator& operator++() {
      const std::size_t blank = rest_.find(' ');
      rest_.remove_prefix(blank == rest_.npos ? rest_.size() : blank + 1);
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator old = *this;
      ++*this;
      return old;
    }
    // Of two iterators over the same words.
    constexpr bool operator==(const Iterator& other) const {
      return rest_.size() == other.rest_.size();
    }

   private:
    std::string_view rest_;
  };

  constexpr Words() = default;
  constexpr Words(const char* text) : text_(text) {}
  constexpr Words(std::string_view text) : text_(text) {}

  constexpr Iterator begin() const { return Iterator(text_); }
  constexpr Iterator end() const { return Iterator(text_.substr(text_.size())); }
  constexpr bool empty() const { return text_.empty(); }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// The words of a constant range of texts.
template <const auto& kTexts>
struct JoinedWords {
  static constexpr std::size_t kSize = [] {
    std::size_t size = 0;
    for (const std::string_view word : kTexts) size += word.size() + 1;
    return size;
  }();
  static constexpr std::array<char, kSize> kText = [] {
    std::array<char, kSize> text = {};
    char* end = text.data();
    for (const std::string_view word : kTexts) {
      for (const char c : word) *end++ = c;
      *end++ = ' ';
    }
    return text;
  }();
  static constexpr Words kWords = std::string_view(kText.data(), kSize - 1);
};

template <const std::string_view&... kList>
inline constexpr std::array<std::string_view, sizeof...(kList)> kTextsOf = {kList...};

// The words of some constants: kWords<kHtmlFormat, kSvgFormat>.
template <const std::string_view&... kList>
inline constexpr Words kWords = JoinedWords<kTextsOf<kList...>>::kWords;

}  // namespace perftape::cli
