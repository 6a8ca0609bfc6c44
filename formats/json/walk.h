// SPDX-License-Identifier: Apache-2.0
// Walks through a JSON text without a document in memory. A reader of a format lists the parts that
// it needs as nodes of a tree; everything else is skipped.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::json {

// A part of a JSON text: an object, an array or a value. 0 is the whole text.
using Node = std::uint8_t;
inline constexpr Node kRoot = 0;

// Below `parent`, the value with this key is `child`. The values of an array have the key "*".
// Those of an object whose keys are data have kAnyKey, unless a rule before it has their key.
inline constexpr std::string_view kAnyKey = "{}";
struct Rule {
  Node parent;
  std::string_view key;
  Node child;
};

struct Number {
  double value = 0;
  std::int64_t integer = 0;  // rounded, and limited to the range, if the number is no integer
  bool is_integer = false;
};

// Called for values that the rules name, in the order of the text.
class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;

  virtual void Begin(Node) {}  // of an object or an array
  virtual void End(Node) {}
  virtual void Number(Node, const json::Number&) {}
  virtual void String(Node, std::string_view) {}  // UTF-8, valid during the call
  virtual void Null(Node) {}
  virtual void Boolean(Node, bool) {}
  // The key of a value that a rule with kAnyKey names. Called before the value.
  virtual void Key(Node, std::string_view) {}
};

// Returns the errors of Read (read.h). The visitor may have been called before.
Status Walk(std::string_view text, std::span<const Rule> rules, Visitor& visitor);

// Walks through the first bytes of a text, which may end anywhere. Returns the set of nodes that it
// has, a bit for each: bit 5 for node 5. Nodes are below 64. For the recognition of a format: what
// a text has at which level says more than its words.
std::uint64_t NodesIn(std::string_view beginning, std::span<const Rule> rules);

constexpr std::uint64_t NodeBit(Node node) {
  return std::uint64_t{1} << node;
}

}  // namespace perftape::json
