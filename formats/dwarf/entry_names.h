// SPDX-License-Identifier: Apache-2.0
// The name of a function, and the line it begins at, from its entry and those that this one stands
// for: the abstract function that it is an instance of, the declaration in its class. They may be
// in other units, and in the supplementary file that dwz made of what several files share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

struct EntryName {
  // As the linker knows it, or where that is not told, as the source has it; empty where neither
  // is. A view of the sections.
  std::string_view name;
  std::uint32_t line = 0;  // 0 where it is not told
};

// Sections with the headers of their units.
struct InfoUnits {
  const Sections* sections = nullptr;  // null: there is no such file
  std::span<const UnitHeader> headers;
};

class EntryNames {
 public:
  EntryNames(InfoUnits own, InfoUnits shared) : own_(own), shared_(shared) {}

  // Of the entry at `die`, which is in `unit`. Empty where it is damaged.
  EntryName Read(const Unit& unit, std::uint64_t die);

 private:
  struct Reference {
    const Unit* unit;  // null: to nothing
    std::uint64_t die;
  };
  struct Found {
    std::string_view linkage_name, name;
    std::uint32_t line = 0;
  };

  // Takes what the entry itself tells and is not in `found` yet; appends what it refers to.
  void ReadEntry(const Reference& entry, Found& found, std::vector<Reference>& next);
  Reference Follow(const Unit& unit, const FormValue& value);
  Reference InUnits(const InfoUnits& units, std::uint64_t die);

  InfoUnits own_, shared_;
  // Units that were referred to, by file and offset.
  std::map<std::pair<const Sections*, std::uint64_t>, std::unique_ptr<const Unit>> units_;
};

}  // namespace perftape::dwarf
