// SPDX-License-Identifier: Apache-2.0
#include "convert/export/rank.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <span>
#include <tuple>

namespace perftape::convert {
namespace {

// Ranks the entries of `table` by `key`, which must compare by value.
template <class T, class Key>
std::vector<std::uint32_t> RankBy(std::span<const T> table, Key key) {
  std::vector<std::uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::tuple(key(table[i]), i); });
  return InOrder(order);  // The inverse of a permutation is again its order.
}

// By mapping and offset; if these are equal, by lines.
std::vector<std::uint32_t> RankLocations(const Profile& profile, const Ranks& ranks) {
  struct SortKey {
    std::uint64_t mapping = 0, offset = 0;
    std::uint32_t location = 0;
  };
  const auto line_key = [&](const Line& line) {
    return std::tuple(ranks.functions[line.function.index], line.number, line.column);
  };
  const auto is_less_by_lines = [&](std::uint32_t a, std::uint32_t b) {
    const std::span<const Line> of_a = profile.locations()[a].lines;
    const std::span<const Line> of_b = profile.locations()[b].lines;
    const auto order = std::lexicographical_compare_three_way(
        of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
        [&](const Line& x, const Line& y) { return line_key(x) <=> line_key(y); });
    return order != 0 ? order < 0 : a < b;
  };
  std::vector<SortKey> keys;
  keys.reserve(profile.locations().size());
  for (const Location& location : profile.locations()) {
    const std::uint64_t mapping = ranks.mappings[location.mapping.index];
    keys.push_back({.mapping = mapping * 4 + (location.is_folded ? 2 : 0) +
                               (location.is_outer_instruction ? 1 : 0),
                    .offset = location.offset.value,
                    .location = static_cast<std::uint32_t>(keys.size())});
  }
  std::ranges::sort(keys, [&](const SortKey& a, const SortKey& b) {
    if (a.mapping != b.mapping) return a.mapping < b.mapping;
    if (a.offset != b.offset) return a.offset < b.offset;
    return is_less_by_lines(a.location, b.location);
  });
  std::vector<std::uint32_t> rank(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) rank[keys[i].location] = i;
  return rank;
}

// One pass of a radix sort. Sorts `entries` by number_of(entry), which is below `limit`; entries of
// equal number keep their order. `first` gets the index of the first entry for each number.
template <class NumberOf>
std::vector<std::uint32_t> Distribute(const std::vector<std::uint32_t>& entries, std::size_t limit,
                                      NumberOf number_of, std::vector<std::uint32_t>& first) {
  first.assign(limit + 1, 0);
  for (const std::uint32_t entry : entries) ++first[number_of(entry) + 1];
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  std::vector<std::uint32_t> distributed(entries.size());
  for (const std::uint32_t entry : entries) distributed[next[number_of(entry)]++] = entry;
  return distributed;
}

// Ranks by a depth-first walk from the empty stack, callees in the order of their locations.
std::vector<std::uint32_t> RankStacks(std::span<const Stack> stacks,
                                      const std::vector<std::uint32_t>& locations) {
  // The callees of caller c are [first[c], first[c + 1]).
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> callees(stacks.size() - 1);
  std::iota(callees.begin(), callees.end(), 1U);
  callees = Distribute(
      callees, locations.size(), [&](std::uint32_t i) { return locations[stacks[i].leaf.index]; },
      first);
  callees = Distribute(
      callees, stacks.size(), [&](std::uint32_t i) { return stacks[i].caller.index; }, first);

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
                      mapping.limit - mapping.start, profile.text(mapping.build_id), mapping.type,
                      mapping.instance);
  });
  ranks.functions = RankBy(profile.functions(), [&](const Function& function) {
    return std::tuple(profile.text(function.name), profile.text(function.system_name),
                      profile.text(function.filename), function.start_line);
  });
  ranks.locations = RankLocations(profile, ranks);
  ranks.stacks = RankStacks(profile.stacks(), ranks.locations);
  ranks.threads = RankBy(profile.threads(), [&](const Thread& thread) {
    return std::tuple(thread.pid, thread.tid, profile.text(thread.comm));
  });
  ranks.labels = RankLabels(profile.labels(), profile);
  return ranks;
}

std::vector<std::uint32_t> RankLabels(std::span<const std::span<const Label>> sets,
                                      const Profile& profile) {
  const auto compare_texts = [&](StringId a, StringId b) {
    return a == b ? std::strong_ordering::equal : profile.text(a) <=> profile.text(b);
  };
  const auto compare = [&](const Label& a, const Label& b) {
    if (const auto by_key = compare_texts(a.key, b.key); by_key != 0) return by_key;
    if (const auto by_text = compare_texts(a.text, b.text); by_text != 0) return by_text;
    if (const auto by_number = a.number <=> b.number; by_number != 0) return by_number;
    return compare_texts(a.unit, b.unit);
  };
  const auto is_less = [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare_three_way(sets[a].begin(), sets[a].end(), sets[b].begin(),
                                                  sets[b].end(), compare) < 0;
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

}  // namespace perftape::convert
