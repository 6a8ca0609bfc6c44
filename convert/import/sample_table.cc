// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_table.h"

#include <xxhash.h>

#include "convert/model/saturating.h"

namespace perftape {
namespace {

// The place of `value` in `table`; at its end, if it was not there.
template <class Value>
std::uint32_t Intern(IdTable& index, std::vector<Value>& table, std::uint64_t hash,
                     const Value& value) {
  const std::uint32_t found =
      index.Find(hash, [&](std::uint32_t place) { return table[place] == value; });
  if (found != IdTable::kNone) return found;
  const auto added = static_cast<std::uint32_t>(table.size());
  table.push_back(value);
  index.Add(hash, added);
  return added;
}

template <std::size_t kWords>
std::uint64_t HashWords(const std::uint64_t (&words)[kWords]) {
  return XXH3_64bits(words, sizeof words);
}

}  // namespace

std::uint32_t SampleTable::Add(const RawThread& thread) {
  const std::uint64_t words[] = {std::uint64_t{thread.pid} << 32 | thread.tid,
                                 reinterpret_cast<std::uintptr_t>(thread.comm)};
  return Intern(thread_index_, threads_, HashWords(words), thread);
}

std::uint32_t SampleTable::Add(const RawKind& kind) {
  const std::uint64_t words[] = {std::uint64_t{kind.event} << 32 | kind.cpu, kind.cgroup};
  return Intern(kind_index_, kinds_, HashWords(words), kind);
}

SampleTable::StackHash SampleTable::HashOf(const RawStack& stack, const ThreadState& state) {
  const std::uint64_t start[] = {state.user_space, state.kernel_space, std::uint64_t(stack.mode),
                                 stack.ip};
  std::uint64_t seed = HashWords(start);
  if (!stack.branches.empty()) {
    seed = XXH3_64bits_withSeed(stack.branches.data(), stack.branches.size(), seed);
  }
  const XXH128_hash_t hash = XXH3_128bits_withSeed(stack.chain.data(), stack.chain.size(), seed);
  return {hash.low64, hash.high64 ^ seed};
}

void SampleTable::Add(const StackHash& hash, const RawStack& stack, Lifetime lifetime,
                      std::uint32_t thread, std::uint32_t kind, std::uint64_t period) {
  // Of one stack, each thread and kind has a number of its own.
  const std::uint64_t low = hash.low + (std::uint64_t{thread} << 32 | kind) * 0x9e3779b97f4a7c15;
  const std::uint32_t found = row_index_.Find(low, [&](std::uint32_t place) {
    return rows_[place].low == low && rows_[place].high == hash.high;
  });
  if (found != IdTable::kNone) {
    Row& row = rows_[found];
    ++row.count;
    row.period = AddUpToLimit(row.period, period);
    return;
  }
  row_index_.Add(low, static_cast<std::uint32_t>(rows_.size()));
  rows_.push_back({.low = low,
                   .high = hash.high,
                   .count = 1,
                   .period = period,
                   .stack = PlaceOf(hash, stack, lifetime),
                   .thread = thread,
                   .kind = kind});
}

std::uint32_t SampleTable::PlaceOf(const StackHash& hash, const RawStack& stack,
                                   Lifetime lifetime) {
  const std::uint32_t place = Intern(stack_index_, stack_hashes_, hash.low, hash);
  if (place == stacks_.size()) {
    RawStack& added = stacks_.emplace_back(stack);
    if (lifetime == Lifetime::kShort) {
      added.chain = copies_.Copy(stack.chain);
      added.branches = copies_.Copy(stack.branches);
    }
  }
  return place;
}

void SampleTable::Close() {
  row_index_.Clear();
  stack_index_.Clear();
  stack_hashes_ = {};
}

}  // namespace perftape
