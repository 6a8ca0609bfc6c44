// SPDX-License-Identifier: Apache-2.0
// The distinct rules of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/unwind/rule.h"

namespace perftape::unwind {

class RuleSet {
 public:
  static constexpr std::uint32_t kNone = 0, kEndOfStack = 1;  // the indexes that each table has

  // Has at most `limit` rules, which must be 2 or more.
  explicit RuleSet(std::size_t limit);

  // Returns the index of `rule`, and adds it if it is new. kNone if there is no room for it.
  std::uint32_t Add(const Rule& rule);
  // Whether a rule was not added.
  bool has_overflowed() const { return has_overflowed_; }
  const std::vector<Rule>& rules() const { return rules_; }
  std::vector<Rule> Finish() && { return std::move(rules_); }

 private:
  void Grow();

  std::vector<Rule> rules_;
  std::size_t limit_;
  bool has_overflowed_ = false;
  std::vector<std::uint32_t> slots_;  // a hash table: index + 1, or 0
};

}  // namespace perftape::unwind
