// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/histogram.h"

#include <algorithm>
#include <span>
#include <utility>

namespace perftape::histogram {
namespace {

void AppendIdentity(const Key& key, const Hit& hit, const NameTable& names, std::string& text) {
  const Key::Identity identity = key.identity(hit, names);
  text.append(reinterpret_cast<const char*>(&identity), sizeof identity);
}

}  // namespace

std::vector<const Key*> Settings::text_keys() const {
  std::vector<const Key*> keys;
  for (const auto* list : {&sort, &columns}) {
    for (const Key* key : *list) {
      if (!key->is_number() && std::ranges::count(keys, key) == 0) keys.push_back(key);
    }
  }
  return keys;
}

Entry& Histogram::EntryOf(const Hit& hit) {
  identity_.clear();
  for (const Key* key : keys_) AppendIdentity(*key, hit, names_, identity_);
  Entry*& entry = by_identity_[identity_];
  if (entry == nullptr) {
    entry = entries_.emplace_back(std::make_unique<Entry>()).get();
    entry->hit = hit;
  }
  return *entry;
}

void Histogram::Add(Hit& hit) {
  ++samples_;
  period_ += hit.amounts.period;
  chain_.swap(hit.chain);
  if (settings_.chain_order == ChainOrder::kCaller) std::ranges::reverse(chain_);
  const bool has_chains = settings_.chain_mode != ChainMode::kNone;
  const auto add_chain = [&](Entry& entry, std::size_t from) {
    if (!has_chains) return;
    entry.chains.Add(std::span(chain_).subspan(from), hit.amounts.period, settings_.chain_key,
                     names_);
  };

  Entry& own = EntryOf(hit);
  own.self.Add(hit.amounts);
  own.total.Add(hit.amounts);
  add_chain(own, 0);
  if (settings_.adds_callees) {
    const Frame leaf = hit.leaf;
    counted_.assign(1, &own);
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      // As in perf, a frame in no mapping keeps the level of the frame before it.
      const char level = hit.leaf.level;
      hit.leaf = chain_[i];
      if (hit.leaf.dso == 0) hit.leaf.level = level;
      Entry& entry = EntryOf(hit);
      if (std::ranges::count(counted_, &entry) != 0) continue;  // recursion
      counted_.push_back(&entry);
      entry.total.Add(hit.amounts);
      add_chain(entry, i);
    }
    hit.leaf = leaf;
  }
  if (settings_.chain_order == ChainOrder::kCaller) std::ranges::reverse(chain_);
  chain_.swap(hit.chain);
}

std::weak_ordering Histogram::Compare(const Entry& a, const Entry& b) const {
  for (const Key* key : settings_.sort) {
    if (!key->is_number()) {
      if (const auto order = key->order(a.hit, b.hit, names_); order != 0) return order;
      continue;
    }
    const Amounts& of_a = key->of_total ? a.total : a.self;
    const Amounts& of_b = key->of_total ? b.total : b.self;
    if (const auto order = key->amount(of_b) <=> key->amount(of_a); order != 0) return order;
    // Of functions of one thread that call each other, the caller comes first.
    const bool compares_depth =
        key->of_total && a.hit.tid == b.hit.tid && settings_.chain_mode != ChainMode::kNone;
    if (!compares_depth) continue;
    const auto order = settings_.chain_order == ChainOrder::kCaller
                           ? b.chains.longest() <=> a.chains.longest()
                           : a.chains.longest() <=> b.chains.longest();
    if (order != 0) return order;
  }
  return CompareAddresses(a.hit, b.hit, names_);
}

void Histogram::Sort(std::vector<std::unique_ptr<Entry>>& entries) const {
  std::ranges::stable_sort(entries,
                           [&](const auto& a, const auto& b) { return Compare(*a, *b) < 0; });
}

void Histogram::Sort() {
  by_identity_.clear();
  if (settings_.is_hierarchy) {
    MakeHierarchy();
  } else {
    Sort(entries_);
  }
}

// The entries by all keys become the leaves.
void Histogram::MakeHierarchy() {
  Entry root;
  std::unordered_map<std::string, Entry*> known;
  std::vector<std::vector<std::unique_ptr<Entry>>*> lists = {&root.children};
  for (auto& leaf : entries_) {
    Entry* parent = &root;
    std::string identity;
    for (std::size_t level = 0; level + 1 < keys_.size(); ++level) {
      AppendIdentity(*keys_[level], leaf->hit, names_, identity);
      Entry*& entry = known[identity];
      if (entry == nullptr) {
        entry = parent->children.emplace_back(std::make_unique<Entry>()).get();
        entry->hit = leaf->hit;
        lists.push_back(&entry->children);
      }
      entry->self.Add(leaf->self);
      entry->total.Add(leaf->total);
      parent = entry;
    }
    parent->children.push_back(std::move(leaf));
  }
  for (auto* list : lists) Sort(*list);
  entries_ = std::move(root.children);
}

}  // namespace perftape::histogram
