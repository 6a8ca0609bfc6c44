// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/rule_set.h"

#include <sys/random.h>

#include <array>
#include <bit>
#include <cstddef>

namespace perftape::unwind {
namespace {

constexpr std::size_t kFirstSlots = 1024;  // binaries have at most a few hundred rules

// The owner of a binary chooses its rules. If the hash were known, all could have the same.
std::array<std::uint64_t, 4> MakeSecrets() {
  std::array<std::uint64_t, 4> secrets = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9,
                                          0x94d049bb133111eb, 0xd6e8feb86659fd93};
  (void)!getrandom(secrets.data(), sizeof secrets, GRND_NONBLOCK);
  return secrets;
}

std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::size_t HashOf(const Rule& rule) {
  static const std::array<std::uint64_t, 4> secrets = MakeSecrets();
  const auto words = std::bit_cast<std::array<std::uint64_t, 3>>(rule);
  return static_cast<std::size_t>(Mix(words[0] ^ secrets[0], words[1] ^ secrets[1]) ^
                                  Mix(words[2] ^ secrets[2], secrets[3]));
}

}  // namespace

RuleSet::RuleSet(std::size_t limit) : limit_(limit), slots_(kFirstSlots) {
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
  if (rules_.size() == limit_) {
    has_overflowed_ = true;
    return kNone;
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
