// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/hit.h"

#include <fmt/core.h>

namespace perftape::histogram {

std::uint32_t TextTable::Add(std::string_view text) {
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  numbers_.emplace(texts_.emplace_back(text), number);
  return number;
}

// Inlined functions have no address of their own: perf compares their names.
std::uint32_t SymbolTable::Add(const Symbol& symbol) {
  const std::string key = symbol.is_inlined
                              ? fmt::format("i{}", symbol.name)
                              : fmt::format("{}/{}/{}", symbol.dso, symbol.start, symbol.name);
  const auto [at, is_new] = numbers_.emplace(key, static_cast<std::uint32_t>(symbols_.size()));
  if (is_new) symbols_.push_back(symbol);
  return at->second;
}

void Amounts::Add(const Amounts& other) {
  period += other.period;
  samples += other.samples;
  kernel += other.kernel;
  user += other.user;
  guest_kernel += other.guest_kernel;
  guest_user += other.guest_user;
}

}  // namespace perftape::histogram
