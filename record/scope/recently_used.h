// SPDX-License-Identifier: Apache-2.0
// A map by id of limited size: it forgets the values that were not used for the longest time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perftape::record {

// Not thread-safe.
template <class Value>
class RecentlyUsed {
 public:
  // Keeps at most `most` values, at least 2.
  explicit RecentlyUsed(std::size_t most) : most_(most) {}

  // Returns the value, until the next Set; null if there is none. Counts as a use.
  const Value* Find(std::string_view id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return nullptr;
    found->second.used = ++uses_;
    return &found->second.value;
  }

  // Adds the value, or replaces it. Counts as a use.
  void Set(std::string_view id, Value value) {
    if (const auto found = by_id_.find(id); found != by_id_.end()) {
      found->second = {.value = std::move(value), .used = ++uses_};
      return;
    }
    if (by_id_.size() >= most_) ForgetHalf();
    by_id_.emplace(id, Entry{.value = std::move(value), .used = ++uses_});
  }

  // Calls `use` with each value, by id.
  template <class Use>
  void ForEach(Use use) const {
    for (const auto& [id, entry] : by_id_) use(entry.value);
  }

 private:
  struct Entry {
    Value value;
    std::uint64_t used = 0;
  };

  // All uses have different numbers. Half at once, so that a full map costs little.
  void ForgetHalf() {
    std::vector<std::uint64_t> uses;
    for (const auto& [id, entry] : by_id_) uses.push_back(entry.used);
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
    std::ranges::nth_element(uses, middle);
    std::erase_if(by_id_, [&](const auto& entry) { return entry.second.used < *middle; });
  }

  std::size_t most_;
  std::uint64_t uses_ = 0;
  std::map<std::string, Entry, std::less<>> by_id_;
};

}  // namespace perftape::record
