// SPDX-License-Identifier: Apache-2.0
// The ids of a profile's entries. Each is a type of its own, so that they cannot be confused. This
// header also includes the three types of address.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "formats/base/addresses.h"  // IWYU pragma: export

namespace perftape::convert {

// The index of an entry in its table of a Profile. Within one profile equal entries have equal ids.
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
using ThreadId = Id<struct ThreadTag>;  // 0 is "no thread"
using LabelsId = Id<struct LabelsTag>;  // 0 is "no labels"
using EventId = Id<struct EventTag>;

}  // namespace perftape::convert

template <class Tag>
struct std::hash<perftape::convert::Id<Tag>> {
  std::size_t operator()(perftape::convert::Id<Tag> id) const { return id.index; }
};
