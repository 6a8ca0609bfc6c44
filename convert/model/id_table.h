// SPDX-License-Identifier: Apache-2.0
// Finds what a table holds, by hash. Only the index in the table is kept here, and 32 bits of the
// hash; what is there is compared in the table itself. That makes 8 bytes a slot, whatever the keys
// are: half of what a map with the keys in it takes for the smallest of them (tsl::robin_map's
// smallest slot with an index has 16), and growing it neither hashes nor touches a key. Most of the
// time of building a profile is spent waiting for memory, so that this is also the faster one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/model/large_pages.h"

namespace perftape::convert {

// Stands for what it was made of: two things with one hash do not happen.
struct Hash128 {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
};

class IdTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The id that was added with this hash and that `is_same` says is meant, or kNone.
  template <class IsSame>
  std::uint32_t Find(std::uint64_t hash, IsSame&& is_same) const {
    if (slots_.empty()) return kNone;
    const std::uint32_t tag = TagOf(hash);
    for (std::size_t at = tag & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.id == kNone) return kNone;
      if (slot.tag == tag && is_same(slot.id)) return slot.id;
    }
  }

  // Adds an id below kNone; not one that is there already.
  void Add(std::uint64_t hash, std::uint32_t id) {
    if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
    Put({TagOf(hash), id});
    ++size_;
  }

  // What Find would look at first, or kNone.
  std::uint32_t Guess(std::uint64_t hash) const {
    return Find(hash, [](std::uint32_t) { return true; });
  }

  // Says that the hash will be looked for soon. Inlined by force: GCC 12 takes a call that does
  // nothing else for one without effect.
  [[gnu::always_inline]] void Prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[TagOf(hash) & mask_]);
  }

  void Clear() {
    Slots().swap(slots_);
    size_ = 0;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t id = kNone;
  };
  using Slots = std::vector<Slot, LargePages<Slot>>;

  static std::uint32_t TagOf(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
  }

  void Put(const Slot& added) {
    std::size_t at = added.tag & mask_;
    while (slots_[at].id != kNone) at = (at + 1) & mask_;
    slots_[at] = added;
  }

  void Grow() {
    constexpr std::size_t kFirstSize = 64;
    Slots old(slots_.empty() ? kFirstSize : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.id != kNone) Put(slot);
    }
  }

  Slots slots_;  // a power of two, or none
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace perftape::convert
