// SPDX-License-Identifier: Apache-2.0
// A hash for small keys in hash tables.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <type_traits>

namespace perftape {
inline namespace base {

// Hashes the bytes of a number, or of a struct without padding. Every bit of the key changes the
// low bits of the hash, by which tsl::robin_map chooses an element. std::hash returns a number
// unchanged: keys that differ only in their upper half would all be in one chain, and the map would
// grow until memory runs out.
struct BytesHash {
  template <class Key>
  std::size_t operator()(const Key& key) const {
    static_assert(std::has_unique_object_representations_v<Key>);
    return XXH3_64bits(&key, sizeof key);
  }
};

}  // namespace base
}  // namespace perftape
