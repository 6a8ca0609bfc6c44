// SPDX-License-Identifier: Apache-2.0
// The names that the parts of a profile have inside it, and the three kinds of address. All are
// types of their own, so that none is taken for another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace perftape {

// The place of a thing in its table of a Profile. Within one profile equal things have equal ids.
template <class Tag>
struct Id {
  std::uint32_t index = 0;
  auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;    // 0 is the empty string
using MappingId = Id<struct MappingTag>;  // 0 is "no mapping"
using StackId = Id<struct StackTag>;      // 0 is the empty stack
using FunctionId = Id<struct FunctionTag>;
using LocationId = Id<struct LocationTag>;
using ThreadId = Id<struct ThreadTag>;
using EventId = Id<struct EventTag>;

// In the process, as the CPU saw it.
struct RuntimeAddress {
  std::uint64_t value = 0;
  auto operator<=>(const RuntimeAddress&) const = default;
};

// In the mapped file: what lies at this many bytes from its beginning.
struct FileOffset {
  std::uint64_t value = 0;
  auto operator<=>(const FileOffset&) const = default;
};

// As the symbols of the ELF file count, before it was moved anywhere.
struct ImageAddress {
  std::uint64_t value = 0;
  auto operator<=>(const ImageAddress&) const = default;
};

}  // namespace perftape

template <class Tag>
struct std::hash<perftape::Id<Tag>> {
  std::size_t operator()(perftape::Id<Tag> id) const { return id.index; }
};
