// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_table.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <utility>

#include "convert/model/saturating.h"

namespace perftape::convert {
namespace {

// Returns the index of `value` in `table`. Appends it if it is not there.
template <class Table, class Value>
std::uint32_t Intern(IdTable& index, Table& table, std::uint64_t hash, const Value& value) {
  const std::uint32_t found =
      index.Find(hash, [&](std::uint32_t id) { return table[id] == value; });
  if (found != IdTable::kNone) return found;
  const auto added = static_cast<std::uint32_t>(table.size());
  table.emplace_back(value);
  index.Add(hash, added);
  return added;
}

// Adds an unwound stack to the hash of the rest. Its id can be replaced by that in another table.
Hash128 WithUnwound(const Hash128& hash, UnwoundStacks::Id id) {
  return {hash.low + id * 0x9e3779b97f4a7c15, hash.high + id * 0xc2b2ae3d27d4eb4f};
}
Hash128 WithoutUnwound(const Hash128& hash, UnwoundStacks::Id id) {
  return {hash.low - id * 0x9e3779b97f4a7c15, hash.high - id * 0xc2b2ae3d27d4eb4f};
}

// So many samples or rows before its use, memory is prefetched.
constexpr std::size_t kSlotAhead = 32, kRowAhead = 16, kStackAhead = 8;

template <std::size_t kWords>
std::uint64_t HashWords(const std::uint64_t (&words)[kWords]) {
  return XXH3_64bits(words, sizeof words);
}

std::uint64_t HashThread(const RawThread& thread) {
  const std::uint64_t words[] = {std::uint64_t{thread.pid} << 32 | thread.tid,
                                 reinterpret_cast<std::uintptr_t>(thread.comm)};
  return HashWords(words);
}

}  // namespace

std::uint32_t SampleTable::Add(const RawThread& thread) {
  return Intern(thread_index_, threads_, HashThread(thread), thread);
}

std::uint32_t SampleTable::Add(const EventLabels& event_labels) {
  const std::uint64_t words[] = {std::uint64_t{event_labels.event} << 32 | event_labels.cpu,
                                 event_labels.cgroup,
                                 event_labels.fields,
                                 event_labels.time_ns,
                                 HashThread(event_labels.woken),
                                 event_labels.service};
  return Intern(event_labels_index_, event_labels_, HashWords(words), event_labels);
}

std::uint32_t SampleTable::AddFields(std::string_view values) {
  if (values.empty()) return 0;
  return Intern(fields_index_, fields_, XXH3_64bits(values.data(), values.size()), values);
}

Hash128 SampleTable::HashOf(const RawStack& stack, const ThreadState& state) {
  const bool is_unwound = stack.unwound != UnwoundStacks::kNone;
  const std::uint64_t flags =
      (stack.is_cut ? 1U : 0U) | (is_unwound ? 2U : 0U) | (stack.is_precise ? 4U : 0U);
  const std::uint64_t start[] = {is_unwound ? 0 : state.spaces.user, state.spaces.kernel,
                                 std::uint64_t(stack.mode) << 3 | flags, stack.ip};
  std::uint64_t seed = HashWords(start);
  if (!stack.branches.empty()) {
    seed = XXH3_64bits_withSeed(stack.branches.data(), stack.branches.size(), seed);
  }
  const XXH128_hash_t hash = XXH3_128bits_withSeed(stack.chain.data(), stack.chain.size(), seed);
  return WithUnwound({hash.low64, hash.high64 ^ seed}, stack.unwound);
}

// Differs for each thread, event and labels of one stack.
std::uint64_t SampleTable::NumberOf(std::uint32_t thread, std::uint32_t event_labels) {
  return (std::uint64_t{thread} << 32 | event_labels) * 0x9e3779b97f4a7c15;
}

std::uint64_t SampleTable::LowHashOf(const Addition& sample) {
  return sample.hash.low + NumberOf(sample.thread, sample.event_labels);
}

// Most rows are not in a CPU cache, and counting takes less time than a fetch from memory. So each
// sample's slot in the index is prefetched well before its use, and then its row; if most
// rows are new, also the slot of its stack, and then what its hash is compared with.
void SampleTable::AddBatch(std::span<const Addition> samples) {
  assert(state_ == State::kAdding);
  const bool are_new = new_rows_ > samples.size() / 2;  // most rows, as in the batch before
  const std::size_t known = rows_.size();
  const auto prefetch_slot = [&](std::size_t i) {
    if (i < samples.size()) row_index_.Prefetch(LowHashOf(samples[i]));
  };
  const auto prefetch_row = [&](std::size_t i) {
    if (i >= samples.size() || PrefetchRow(LowHashOf(samples[i]))) return;
    if (are_new) stack_index_.Prefetch(samples[i].hash.low);
  };
  const auto prefetch_stack = [&](std::size_t i) {
    if (!are_new || i >= samples.size()) return;
    if (row_index_.Guess(LowHashOf(samples[i])) != IdTable::kNone) return;
    const std::uint32_t stack = stack_index_.Guess(samples[i].hash.low);
    if (stack != IdTable::kNone) __builtin_prefetch(&stack_hashes_[stack]);
  };
  for (std::size_t i = 0; i < kSlotAhead; ++i) prefetch_slot(i);
  for (std::size_t i = 0; i < kRowAhead; ++i) prefetch_row(i);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    prefetch_slot(i + kSlotAhead);
    prefetch_row(i + kRowAhead);
    prefetch_stack(i + kStackAhead);
    Count(samples[i]);
  }
  new_rows_ = rows_.size() - known;
}

std::uint32_t SampleTable::Count(const Addition& sample) {
  Row& row = RowOf(sample);
  if (row.count == 0) row.stack = AddStack(sample);
  row.count += sample.count;
  row.period = AddUpToLimit(row.period, sample.period);
  row.first_ms = std::min(row.first_ms, sample.first_ms);
  return static_cast<std::uint32_t>(&row - rows_.data());
}

std::uint32_t SampleTable::Add(const Addition& sample) {
  assert(state_ == State::kAdding);
  const std::size_t known = stacks_.size();
  const std::uint32_t row = Count(sample);
  if (stacks_.size() == known) return row;
  Stored& added = stacks_.back();
  added.chain = copies_.Copy(sample.stack.chain).data();
  if (added.has_branches) branches_[known] = copies_.Copy(sample.stack.branches);
  return row;
}

void SampleTable::AddAll(SampleTable& other) {
  std::vector<std::uint32_t> threads, event_labels;
  for (const RawThread& thread : other.threads_) threads.push_back(Add(thread));
  for (EventLabels labels : other.event_labels_) {
    labels.fields = AddFields(other.fields(labels.fields));
    event_labels.push_back(Add(labels));
  }
  const std::vector<UnwoundStacks::Id> unwound = unwound_.AddAll(other.unwound_);
  std::vector<Addition> batch;
  for (const Row& row : other.rows_) {
    const Hash128 hash = {row.low - NumberOf(row.thread, row.event_labels), row.high};
    RawStack stack = other.stack(row.stack);
    const Hash128 rest = WithoutUnwound(hash, stack.unwound);
    stack.unwound = unwound[stack.unwound];
    batch.push_back({.hash = WithUnwound(rest, stack.unwound),
                     .thread = threads[row.thread],
                     .event_labels = event_labels[row.event_labels],
                     .count = row.count,
                     .period = row.period,
                     .stack = stack,
                     .first_ms = row.first_ms});
    if (batch.size() < kBatch) continue;
    AddBatch(batch);
    batch.clear();
  }
  AddBatch(batch);
  copies_of_others_.push_back(std::move(other.copies_));
  std::ranges::move(other.copies_of_others_, std::back_inserter(copies_of_others_));
}

// Stacks stay, so this reads nothing but rows. Each moves to the left of where it was.
void SampleTable::RoundTimes(const TimeParts& times) {
  assert(state_ == State::kAdding);
  std::vector<std::uint32_t> rounded;  // by index of the labels until now
  event_labels_index_.Clear();
  for (EventLabels labels : std::exchange(event_labels_, {})) {
    labels.time_ns = times.EndOfPart(labels.time_ns);
    rounded.push_back(Add(labels));
  }
  row_index_.RemoveAll();
  const auto relabel = [&](std::size_t i) {
    if (i >= rows_.size()) return;
    Row& row = rows_[i];
    row.low -= NumberOf(row.thread, row.event_labels);
    row.event_labels = rounded[row.event_labels];
    row.low += NumberOf(row.thread, row.event_labels);
    row_index_.Prefetch(row.low);
  };
  for (std::size_t i = 0; i < kSlotAhead; ++i) relabel(i);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    relabel(i + kSlotAhead);
    if (i + kRowAhead < rows_.size()) PrefetchRow(rows_[i + kRowAhead].low);
    const Row row = rows_[i];
    const std::uint32_t same = FindRow(row.low, row.high);
    if (same == IdTable::kNone) {
      row_index_.Add(row.low, static_cast<std::uint32_t>(kept));
      rows_[kept++] = row;
    } else {
      rows_[same].Add(row);
    }
  }
  rows_.resize(kept);
}

SampleTable::Row& SampleTable::RowOf(const Addition& sample) {
  const std::uint64_t low = LowHashOf(sample);
  const std::uint32_t found = FindRow(low, sample.hash.high);
  if (found != IdTable::kNone) return rows_[found];
  row_index_.Add(low, static_cast<std::uint32_t>(rows_.size()));
  return rows_.emplace_back(Row{.low = low,
                                .high = sample.hash.high,
                                .thread = sample.thread,
                                .event_labels = sample.event_labels});
}

std::uint32_t SampleTable::AddStack(const Addition& sample) {
  const std::uint32_t index = Intern(stack_index_, stack_hashes_, sample.hash.low, sample.hash);
  if (index == stacks_.size()) Store(sample.stack);
  return index;
}

void SampleTable::Store(const RawStack& stack) {
  if (!stack.branches.empty()) branches_[stacks_.size()] = stack.branches;
  stacks_.push_back({.ip = stack.ip,
                     .chain = stack.chain.data(),
                     .pid = stack.pid,
                     .epoch = stack.epoch,
                     .chain_size = static_cast<std::uint32_t>(stack.chain.size()),
                     .mode = stack.mode,
                     .unwound = stack.unwound,
                     .has_branches = !stack.branches.empty(),
                     .is_precise = stack.is_precise,
                     .is_cut = stack.is_cut});
}

RawStack SampleTable::stack(std::size_t index) const {
  const Stored& stored = stacks_[index];
  RawStack stack{.ip = stored.ip,
                 .chain = Bytes(stored.chain, stored.chain_size),
                 .pid = stored.pid,
                 .epoch = stored.epoch,
                 .mode = stored.mode,
                 .is_precise = stored.is_precise,
                 .is_cut = stored.is_cut,
                 .unwound = stored.unwound};
  if (stored.has_branches) stack.branches = branches_.at(index);
  return stack;
}

// A counting sort.
std::vector<std::uint32_t> SampleTable::StacksByEpoch() const {
  Epoch last = 0;
  for (const Stored& stack : stacks_) last = std::max(last, stack.epoch);
  std::vector<std::uint32_t> begins(std::size_t{last} + 2);
  for (const Stored& stack : stacks_) ++begins[std::size_t{stack.epoch} + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> order(stacks_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[begins[stacks_[i].epoch]++] = i;
  return order;
}

std::vector<RawStack> SampleTable::StacksAt(std::span<const std::uint32_t> indexes) const {
  constexpr std::size_t kAhead = 16;  // the stacks are far apart in memory
  std::vector<RawStack> stacks;
  stacks.reserve(indexes.size());
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    if (i + kAhead < indexes.size()) __builtin_prefetch(&stacks_[indexes[i + kAhead]]);
    stacks.push_back(stack(indexes[i]));
  }
  return stacks;
}

void SampleTable::Finish() {
  assert(state_ == State::kAdding);
  state_ = State::kFinished;
  for (IdTable* const index :
       {&row_index_, &stack_index_, &thread_index_, &event_labels_index_, &fields_index_}) {
    index->Clear();
  }
  Table<Hash128>().swap(stack_hashes_);
}

void SampleTable::ReleaseStacks() {
  assert(state_ == State::kFinished);
  state_ = State::kReleased;
  Table<Stored>().swap(stacks_);
  unwound_ = UnwoundStacks();
  branches_.clear();
  copies_ = Arena();
  copies_of_others_.clear();
}

}  // namespace perftape::convert
