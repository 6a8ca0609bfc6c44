// SPDX-License-Identifier: Apache-2.0
// Finds entries of a table by hash. It stores only the index of an entry and 32 bits of its hash.
// The caller compares the entry in the table itself. So a slot has 8 bytes for any type of key,
// half of the smallest slot of tsl::robin_map with an index. Growing neither hashes nor reads a
// key. Building a profile mostly waits for memory, so this is also faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/model/large_pages.h"

namespace perftape::convert {

// Identifies what was hashed: collisions are assumed not to occur.
struct Hash128 {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
};

class IdTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // Returns the id that was added with this hash and for which `is_same` returns true, or kNone.
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

  // Adds an id below kNone, which must not be in the table yet.
  void Add(std::uint64_t hash, std::uint32_t id) {
    if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
    Put({TagOf(hash), id});
    ++size_;
  }

  // Returns the id that Find would compare first, or kNone.
  std::uint32_t Guess(std::uint64_t hash) const {
    return Find(hash, [](std::uint32_t) { return true; });
  }

  // Prefetches the slot of a hash that will be looked up soon. Inlining is forced: GCC 12 removes a
  // call that does nothing else, because it seems to have no effect.
  [[gnu::always_inline]] void Prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[TagOf(hash) & mask_]);
  }

  // Keeps the memory, for about as many ids as before.
  void RemoveAll() {
    slots_.assign(slots_.size(), {});
    size_ = 0;
  }

  // Frees the memory.
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

  Slots slots_;  // its size is a power of two, or 0
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace perftape::convert
