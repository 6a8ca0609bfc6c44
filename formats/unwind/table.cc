// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace perftape::unwind {
namespace {

constexpr Rule kNoRule;

}  // namespace

Table::Table(Machine machine, ImageAddress base, std::span<const Row> rows,
             std::span<const Rule> rules, std::shared_ptr<const void> memory)
    : machine_(machine), base_(base), rows_(rows), rules_(rules), memory_(std::move(memory)) {}

const Rule& Table::Find(ImageAddress address) const {
  const std::uint64_t distance = address.value - base_.value;
  if (address < base_ || distance > std::numeric_limits<std::uint32_t>::max()) return kNoRule;
  const auto pc = static_cast<std::uint32_t>(distance);
  const auto next = std::ranges::upper_bound(rows_, pc, {}, &Row::pc);
  return next == rows_.begin() ? kNoRule : rules_[std::prev(next)->rule];
}

}  // namespace perftape::unwind
