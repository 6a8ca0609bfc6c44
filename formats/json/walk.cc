// SPDX-License-Identifier: Apache-2.0
#include "formats/json/walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/json/read.h"

namespace perftape::json {
namespace {

constexpr Node kSkipped = std::numeric_limits<Node>::max();

class Walker final : public Handler {
 public:
  Walker(std::span<const Rule> rules, Visitor& visitor) : rules_(rules), visitor_(visitor) {}

  bool BeginObject() override { return Begin(false); }
  bool EndObject() override { return End(); }
  bool BeginList() override { return Begin(true); }
  bool EndList() override { return End(); }
  bool Key(std::string_view key) override {
    key_ = key;
    return true;
  }
  bool Null() override {
    if (const Node node = Here(); node != kSkipped) visitor_.Null(node);
    return true;
  }
  bool Boolean(bool value) override {
    if (const Node node = Here(); node != kSkipped) visitor_.Boolean(node, value);
    return true;
  }
  bool Unsigned(std::uint64_t value) override {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return AddNumber({.value = static_cast<double>(value),
                      .integer = static_cast<std::int64_t>(std::min<std::uint64_t>(value, kMost)),
                      .is_integer = true});
  }
  bool Integer(std::int64_t value) override {
    return AddNumber({.value = static_cast<double>(value), .integer = value, .is_integer = true});
  }
  bool Real(double value) override {
    constexpr double kMost = 9.2e18;
    if (!std::isfinite(value)) value = 0;
    const double limited = std::min(std::max(value, -kMost), kMost);
    return AddNumber({.value = value, .integer = std::llround(limited)});
  }
  bool Text(std::string_view text) override {
    if (const Node node = Here(); node != kSkipped) visitor_.String(node, text);
    return true;
  }

 private:
  // The node of the value that comes next. Called once for each value.
  Node Here() {
    if (open_.empty()) return kRoot;
    const Node parent = open_.back().node;
    if (parent == kSkipped) return kSkipped;
    const bool is_list = open_.back().is_list;
    const std::string_view key = is_list ? std::string_view("*") : key_;
    for (const Rule& rule : rules_) {
      if (rule.parent != parent) continue;
      if (rule.key == key) return rule.child;
      if (rule.key != kAnyKey || is_list) continue;
      visitor_.Key(rule.child, key_);
      return rule.child;
    }
    return kSkipped;
  }

  bool AddNumber(const json::Number& number) {
    if (const Node node = Here(); node != kSkipped) visitor_.Number(node, number);
    return true;
  }

  bool Begin(bool is_list) {
    const Node node = Here();
    open_.push_back({.node = node, .is_list = is_list});
    if (node != kSkipped) visitor_.Begin(node);
    return true;
  }

  bool End() {
    const Node node = open_.back().node;
    open_.pop_back();
    if (node != kSkipped) visitor_.End(node);
    return true;
  }

  struct OpenNode {
    Node node;
    bool is_list = false;
  };

  std::span<const Rule> rules_;
  Visitor& visitor_;
  std::vector<OpenNode> open_;
  std::string key_;
};

}  // namespace

Status Walk(std::string_view text, std::span<const Rule> rules, Visitor& visitor) {
  Walker walker(rules, visitor);
  return Read(text, walker);
}

namespace {

class NodeCollector final : public Visitor {
 public:
  std::uint64_t nodes = 0;

  void Begin(Node node) override { nodes |= NodeBit(node); }
  void Number(Node node, const json::Number&) override { nodes |= NodeBit(node); }
  void String(Node node, std::string_view) override { nodes |= NodeBit(node); }
};

}  // namespace

std::uint64_t NodesIn(std::string_view beginning, std::span<const Rule> rules) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return 0;
  if (beginning[start] != '{' && beginning[start] != '[') return 0;
  NodeCollector collector;
  (void)Walk(beginning, rules, collector);  // the end is usually missing
  return collector.nodes;
}

}  // namespace perftape::json
