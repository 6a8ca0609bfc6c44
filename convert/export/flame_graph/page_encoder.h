// SPDX-License-Identifier: Apache-2.0
// Writes the data inside a page: LEB128 numbers without sign, and indexes of texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/escape/escape.h"

namespace perftape::flame_graph {

class Encoder {
 public:
  void Number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void Append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::byte> Finish() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// The texts of a page, each once, as DisplayText. The first one is empty.
class TextColumn {
 public:
  // Returns the index of a text.
  std::uint64_t Add(std::string_view text) {
    const auto [known, is_new] = ids_.emplace(escape::DisplayText(text), ids_.size());
    if (is_new) joined_ += known->first + '\n';
    return known->second;
  }
  // All texts, each ended by '\n'.
  std::string_view joined() const { return joined_; }

 private:
  std::unordered_map<std::string, std::uint64_t> ids_ = {{"", 0}};
  std::string joined_ = "\n";
};

}  // namespace perftape::flame_graph
