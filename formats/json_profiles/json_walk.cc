// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/json_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "formats/base/joined_files.h"

namespace perftape::json_profiles {
namespace {

constexpr JsonNode kSkipped = std::numeric_limits<JsonNode>::max();

class Walk final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Walk(std::string_view text, std::span<const JsonRule> rules, JsonVisitor& visitor)
      : text_(text), rules_(rules), visitor_(visitor) {}

  const std::string& error() const { return error_; }
  bool is_too_deep() const { return is_too_deep_; }

  bool null() override {
    if (const JsonNode node = Here(); node != kSkipped) visitor_.Null(node);
    return true;
  }
  bool boolean(bool value) override {
    if (const JsonNode node = Here(); node != kSkipped) visitor_.Boolean(node, value);
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return AddNumber({.value = static_cast<double>(value), .integer = value, .is_integer = true});
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return AddNumber({.value = static_cast<double>(value),
                      .integer = static_cast<std::int64_t>(std::min<std::uint64_t>(value, kMost)),
                      .is_integer = true});
  }
  bool number_float(number_float_t value, const string_t&) override {
    constexpr double kMost = 9.2e18;
    if (!std::isfinite(value)) value = 0;
    const double limited = std::min(std::max(value, -kMost), kMost);
    return AddNumber({.value = value, .integer = std::llround(limited)});
  }
  bool string(string_t& value) override {
    if (const JsonNode node = Here(); node != kSkipped) visitor_.String(node, value);
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Open(false); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(true); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }
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
  // The node of the value that comes next. Called once for each value.
  JsonNode Here() {
    if (open_.empty()) return kRoot;
    const JsonNode parent = open_.back().node;
    if (parent == kSkipped) return kSkipped;
    const bool is_array = open_.back().is_array;
    const std::string_view key = is_array ? std::string_view("*") : key_;
    for (const JsonRule& rule : rules_) {
      if (rule.parent != parent) continue;
      if (rule.key == key) return rule.child;
      if (rule.key != kAnyKey || is_array) continue;
      visitor_.Key(rule.child, key_);
      return rule.child;
    }
    return kSkipped;
  }

  bool AddNumber(const JsonNumber& number) {
    if (const JsonNode node = Here(); node != kSkipped) visitor_.Number(node, number);
    return true;
  }

  bool Open(bool is_array) {
    if (open_.size() >= kDeepestJson) {
      is_too_deep_ = true;
      return false;
    }
    const JsonNode node = Here();
    open_.push_back({.node = node, .is_array = is_array});
    if (node != kSkipped) visitor_.Begin(node);
    return true;
  }

  bool Close() {
    const JsonNode node = open_.back().node;
    open_.pop_back();
    if (node != kSkipped) visitor_.End(node);
    has_ended_ = open_.empty();
    return true;
  }

  struct OpenNode {
    JsonNode node;
    bool is_array = false;
  };

  std::string_view text_;
  std::span<const JsonRule> rules_;
  JsonVisitor& visitor_;
  std::vector<OpenNode> open_;
  std::string key_;
  std::string error_;
  bool is_too_deep_ = false;
  bool has_ended_ = false;  // the object or array that is the whole text
};

}  // namespace

Status WalkJson(std::string_view text, std::span<const JsonRule> rules, JsonVisitor& visitor) {
  Walk walk(text, rules, visitor);
  if (nlohmann::json::sax_parse(text, &walk)) return {};
  if (walk.is_too_deep()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("objects and arrays are more than {} deep", kDeepestJson));
  }
  return Fail(ErrorCode::kCorrupt, walk.error());
}

namespace {

class NodeCollector final : public JsonVisitor {
 public:
  std::uint64_t nodes = 0;

  void Begin(JsonNode node) override { nodes |= NodeBit(node); }
  void Number(JsonNode node, const JsonNumber&) override { nodes |= NodeBit(node); }
  void String(JsonNode node, std::string_view) override { nodes |= NodeBit(node); }
};

}  // namespace

std::uint64_t NodesIn(std::string_view beginning, std::span<const JsonRule> rules) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return 0;
  if (beginning[start] != '{' && beginning[start] != '[') return 0;
  NodeCollector collector;
  (void)WalkJson(beginning, rules, collector);  // the end is usually missing
  return collector.nodes;
}

}  // namespace perftape::json_profiles
