// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_table.h"

#include <xxhash.h>

#include <algorithm>
#include <numeric>

#include "convert/model/saturating.h"

namespace perftape::convert {
namespace {

// The place of `value` in `table`; at its end, if it was not there.
template <class Table, class Value>
std::uint32_t Intern(IdTable& index, Table& table, std::uint64_t hash, const Value& value) {
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

Hash128 SampleTable::HashOf(const RawStack& stack, const ThreadState& state) {
  const std::uint64_t start[] = {state.spaces.user, state.spaces.kernel, std::uint64_t(stack.mode),
                                 stack.ip};
  std::uint64_t seed = HashWords(start);
  if (!stack.branches.empty()) {
    seed = XXH3_64bits_withSeed(stack.branches.data(), stack.branches.size(), seed);
  }
  const XXH128_hash_t hash = XXH3_128bits_withSeed(stack.chain.data(), stack.chain.size(), seed);
  return {hash.low64, hash.high64 ^ seed};
}

// Of one stack, each thread and kind has a number of its own.
std::uint64_t SampleTable::NumberOf(std::uint32_t thread, std::uint32_t kind) {
  return (std::uint64_t{thread} << 32 | kind) * 0x9e3779b97f4a7c15;
}

std::uint64_t SampleTable::LowHashOf(const Addition& sample) {
  return sample.hash.low + NumberOf(sample.thread, sample.kind);
}

void SampleTable::AddLasting(const Addition& sample) {
  Addition& slot = waiting_[added_ % kWaiting];
  if (added_ >= kWaiting) Count(slot);
  slot = sample;
  row_index_.Prefetch(LowHashOf(sample));
  ++added_;
  if (added_ < kWaiting / 2) return;
  const Addition& halfway = waiting_[(added_ - kWaiting / 2) % kWaiting];
  const std::uint32_t row = row_index_.Guess(LowHashOf(halfway));
  if (row != IdTable::kNone) __builtin_prefetch(&rows_[row]);
}

void SampleTable::Flush() {
  const std::size_t first = added_ > kWaiting ? added_ - kWaiting : 0;
  for (std::size_t i = first; i < added_; ++i) Count(waiting_[i % kWaiting]);
  added_ = 0;
}

std::uint32_t SampleTable::Count(const Addition& sample) {
  Row& row = RowOf(sample);
  if (row.count == 0) row.stack = PlaceOf(sample);
  row.count += sample.count;
  row.period = AddUpToLimit(row.period, sample.period);
  return static_cast<std::uint32_t>(&row - rows_.data());
}

std::uint32_t SampleTable::AddShort(const Addition& sample) {
  const std::size_t known = stacks_.size();
  const std::uint32_t row = Count(sample);
  if (stacks_.size() == known) return row;
  Stored& added = stacks_.back();
  added.chain = copies_.Copy(sample.stack.chain).data();
  if (added.has_branches) branches_[known] = copies_.Copy(sample.stack.branches);
  return row;
}

void SampleTable::AddAll(const SampleTable& other) {
  std::vector<std::uint32_t> threads, kinds;
  for (const RawThread& thread : other.threads_) threads.push_back(Add(thread));
  for (const RawKind& kind : other.kinds_) kinds.push_back(Add(kind));
  for (const Row& row : other.rows_) {
    AddLasting({.hash = {row.low - NumberOf(row.thread, row.kind), row.high},
                .thread = threads[row.thread],
                .kind = kinds[row.kind],
                .count = row.count,
                .period = row.period,
                .stack = other.stack(row.stack)});
  }
  Flush();
}

SampleTable::Row& SampleTable::RowOf(const Addition& sample) {
  const std::uint64_t low = LowHashOf(sample);
  const std::uint32_t found = row_index_.Find(low, [&](std::uint32_t place) {
    return rows_[place].low == low && rows_[place].high == sample.hash.high;
  });
  if (found != IdTable::kNone) return rows_[found];
  row_index_.Add(low, static_cast<std::uint32_t>(rows_.size()));
  return rows_.emplace_back(
      Row{.low = low, .high = sample.hash.high, .thread = sample.thread, .kind = sample.kind});
}

std::uint32_t SampleTable::PlaceOf(const Addition& sample) {
  const std::uint32_t place = Intern(stack_index_, stack_hashes_, sample.hash.low, sample.hash);
  if (place == stacks_.size()) Store(sample.stack);
  return place;
}

void SampleTable::Store(const RawStack& stack) {
  if (!stack.branches.empty()) branches_[stacks_.size()] = stack.branches;
  stacks_.push_back({.ip = stack.ip,
                     .chain = stack.chain.data(),
                     .chain_size = static_cast<std::uint32_t>(stack.chain.size()),
                     .pid = stack.pid,
                     .moment = stack.moment,
                     .mode = stack.mode,
                     .has_branches = !stack.branches.empty()});
}

RawStack SampleTable::stack(std::size_t place) const {
  const Stored& stored = stacks_[place];
  RawStack stack{.ip = stored.ip,
                 .chain = Bytes(stored.chain, stored.chain_size),
                 .pid = stored.pid,
                 .moment = stored.moment,
                 .mode = stored.mode};
  if (stored.has_branches) stack.branches = branches_.at(place);
  return stack;
}

// Counts how many there are of each moment, and where those begin.
std::vector<std::uint32_t> SampleTable::StacksByMoment() const {
  Moment last = 0;
  for (const Stored& stack : stacks_) last = std::max(last, stack.moment);
  std::vector<std::uint32_t> begins(std::size_t{last} + 2);
  for (const Stored& stack : stacks_) ++begins[std::size_t{stack.moment} + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> order(stacks_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[begins[stacks_[i].moment]++] = i;
  return order;
}

void SampleTable::Close() {
  row_index_.Clear();
  stack_index_.Clear();
  Table<Hash128>().swap(stack_hashes_);
}

void SampleTable::ForgetStacks() {
  Table<Stored>().swap(stacks_);
  branches_.clear();
}

}  // namespace perftape::convert
