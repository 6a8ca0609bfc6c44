// SPDX-License-Identifier: Apache-2.0
#include "convert/export/rank.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <span>
#include <tuple>

namespace perftape {
namespace {

// The rank of each of `table`'s things by `key`, which must compare by value.
template <class T, class Key>
std::vector<std::uint32_t> RankBy(std::span<const T> table, Key key) {
  std::vector<std::uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::tuple(key(table[i]), i); });
  return InOrder(order);  // The inverse of a permutation is again its order.
}

// A location's lines as something that compares: by what their functions are.
class LinesByRank {
 public:
  LinesByRank(std::span<const Line> lines, const std::vector<std::uint32_t>& functions)
      : lines_(lines), functions_(&functions) {}

  std::strong_ordering operator<=>(const LinesByRank& other) const {
    return std::lexicographical_compare_three_way(
        lines_.begin(), lines_.end(), other.lines_.begin(), other.lines_.end(),
        [this](const Line& a, const Line& b) { return Key(a) <=> Key(b); });
  }
  bool operator==(const LinesByRank& other) const { return (*this <=> other) == 0; }

 private:
  std::tuple<std::uint32_t, std::int64_t, std::uint32_t> Key(const Line& line) const {
    return {(*functions_)[line.function.index], line.number, line.column};
  }

  std::span<const Line> lines_;
  const std::vector<std::uint32_t>* functions_;
};

// Walks the tree of stacks from the empty one, callees in the order of their locations.
std::vector<std::uint32_t> RankStacks(std::span<const Stack> stacks,
                                      const std::vector<std::uint32_t>& locations) {
  // The callees of caller c are those from first[c] to before first[c + 1].
  std::vector<std::uint32_t> callees(stacks.size() - 1);
  std::iota(callees.begin(), callees.end(), 1U);
  std::ranges::sort(callees, {}, [&](std::uint32_t i) {
    return std::tuple(stacks[i].caller.index, locations[stacks[i].leaf.index], i);
  });
  std::vector<std::uint32_t> first(stacks.size() + 1);
  for (const std::uint32_t callee : callees) ++first[stacks[callee].caller.index + 1];
  std::inclusive_scan(first.begin(), first.end(), first.begin());

  std::vector<std::uint32_t> ranks(stacks.size());
  std::vector<std::uint32_t> to_visit = {0};
  for (std::uint32_t rank = 0; !to_visit.empty(); ++rank) {
    const std::uint32_t stack = to_visit.back();
    to_visit.pop_back();
    ranks[stack] = rank;
    for (std::uint32_t i = first[stack + 1]; i > first[stack]; --i) {
      to_visit.push_back(callees[i - 1]);
    }
  }
  return ranks;
}

}  // namespace

std::vector<std::uint32_t> InOrder(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::uint32_t> order(ranks.size());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) order[ranks[i]] = i;
  return order;
}

Ranks RankAll(const Profile& profile) {
  Ranks ranks;
  ranks.mappings = RankBy(profile.mappings(), [&](const Mapping& mapping) {
    return std::tuple(profile.text(mapping.filename), mapping.file_offset,
                      mapping.limit - mapping.start, profile.text(mapping.build_id), mapping.kind,
                      mapping.instance);
  });
  ranks.functions = RankBy(profile.functions(), [&](const Function& function) {
    return std::tuple(profile.text(function.name), profile.text(function.system_name),
                      profile.text(function.filename), function.start_line);
  });
  ranks.locations = RankBy(profile.locations(), [&](const Location& location) {
    return std::tuple(ranks.mappings[location.mapping.index], location.offset, location.is_folded,
                      LinesByRank(location.lines, ranks.functions));
  });
  ranks.stacks = RankStacks(profile.stacks(), ranks.locations);
  ranks.threads = RankBy(profile.threads(), [&](const Thread& thread) {
    return std::tuple(thread.pid, thread.tid, profile.text(thread.comm));
  });
  ranks.labels = RankLabels(profile.labels(), profile);
  return ranks;
}

std::vector<std::uint32_t> RankLabels(std::span<const std::span<const Label>> sets,
                                      const Profile& profile) {
  const auto key = [&](const Label& label) {
    return std::tuple(profile.text(label.key), profile.text(label.text), label.number,
                      profile.text(label.unit));
  };
  const auto is_less = [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(
        sets[a], sets[b], [&](const Label& x, const Label& y) { return key(x) < key(y); });
  };
  std::vector<std::uint32_t> order(sets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, is_less);
  std::vector<std::uint32_t> ranks(sets.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    ranks[order[i]] = ranks[order[i - 1]] + (is_less(order[i - 1], order[i]) ? 1 : 0);
  }
  return ranks;
}

}  // namespace perftape
