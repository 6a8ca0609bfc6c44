// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/rule_set.h"

#include <array>
#include <bit>
#include <cstddef>

namespace perftape::unwind {
namespace {

constexpr std::size_t kFirstSlots = 1024;  // binaries have at most a few hundred rules

std::size_t HashOf(const Rule& rule) {
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(rule);
  const std::uint64_t mixed = (words[0] ^ std::rotl(words[1], 29)) * 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

}  // namespace

RuleSet::RuleSet() : slots_(kFirstSlots) {
  Rule end;
  end.cfa = CfaRule::kEndOfStack;
  Add({});
  Add(end);
}

std::uint32_t RuleSet::Add(const Rule& rule) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = HashOf(rule) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::uint32_t index = slots_[slot] - 1;
    if (rules_[index] == rule) return index;
  }
  rules_.push_back(rule);
  slots_[slot] = static_cast<std::uint32_t>(rules_.size());
  const auto index = static_cast<std::uint32_t>(rules_.size() - 1);
  if (rules_.size() * 2 > slots_.size()) Grow();
  return index;
}

void RuleSet::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    std::size_t slot = HashOf(rules_[i]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace perftape::unwind
