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

Table Table::FromRows(Machine machine, ImageAddress base, std::vector<Row> rows,
                      std::vector<Rule> rules) {
  struct Owned {
    std::vector<Row> rows;
    std::vector<Rule> rules;
  };
  const auto owned =
      std::make_shared<const Owned>(Owned{.rows = std::move(rows), .rules = std::move(rules)});
  Table table;
  table.machine_ = machine;
  table.base_ = base;
  table.rows_ = owned->rows;
  table.rules_ = owned->rules;
  table.memory_ = owned;
  return table;
}

const Rule& Table::Find(ImageAddress address) const {
  const std::uint64_t distance = address.value - base_.value;
  if (address < base_ || distance > std::numeric_limits<std::uint32_t>::max()) return kNoRule;
  const auto pc = static_cast<std::uint32_t>(distance);
  const auto next = std::ranges::upper_bound(rows_, pc, {}, &Row::pc);
  return next == rows_.begin() ? kNoRule : rules_[std::prev(next)->rule];
}

}  // namespace perftape::unwind
