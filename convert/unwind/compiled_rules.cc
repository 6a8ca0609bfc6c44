// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/compiled_rules.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace perftape::offline_unwind {
namespace {

// Code that starts at or below an address, and may have been replaced since. Compilers reuse
// addresses a few times; more is not looked at.
constexpr std::ptrdiff_t kMostCandidates = 256;

}  // namespace

void CompiledRules::Finish() {
  for (auto& [pid, placements] : placements_) {
    std::ranges::stable_sort(placements, {}, [](const Placement& placement) {
      return std::tuple(placement.start, placement.from_epoch);
    });
  }
}

const unwind::Rule* CompiledRules::Find(std::uint32_t pid, std::uint32_t epoch,
                                        RuntimeAddress address) const {
  const auto process = placements_.find(pid);
  if (process == placements_.end()) return nullptr;
  const std::vector<Placement>& placements = process->second;
  auto at = std::ranges::upper_bound(placements, address.value, {}, &Placement::start);
  const auto last = at - std::min(kMostCandidates, at - placements.begin());
  const Placement* latest = nullptr;
  while (at != last) {
    --at;
    if (at->end <= address.value || at->from_epoch > epoch) continue;
    if (latest == nullptr || at->from_epoch > latest->from_epoch) latest = &*at;
  }
  if (latest == nullptr) return nullptr;
  const unwind::Rule& rule =
      latest->table->Find({latest->image.value + (address.value - latest->start)});
  return rule.cfa == unwind::CfaRule::kNone ? nullptr : &rule;
}

}  // namespace perftape::offline_unwind
