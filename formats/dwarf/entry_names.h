// SPDX-License-Identifier: Apache-2.0
// Finds the name and the first line of a function. They may be in its own entry, in its abstract
// instance, or in the declaration in its class. The latter two may be in other units, or in the
// supplementary file to which dwz moves entries that several files share.
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
  // The linkage name if there is one, else the name in the source. Empty without both. A view of
  // the sections.
  std::string_view name;
  std::uint32_t line = 0;  // 0 if unknown
};

// Sections, and the headers of their units.
struct InfoUnits {
  const Sections* sections = nullptr;  // null: there is no such file
  std::span<const UnitHeader> headers;
};

class EntryNames {
 public:
  EntryNames(InfoUnits own, InfoUnits shared) : own_(own), shared_(shared) {}

  // Reads the name for the entry at offset `die` of `unit`. Empty if the entry is damaged.
  EntryName Read(const Unit& unit, std::uint64_t die);

 private:
  struct Reference {
    const Unit* unit;  // null if the target was not found
    std::uint64_t die;
  };
  struct Found {
    std::string_view linkage_name, name;
    std::uint32_t line = 0;
  };

  // Adds to `found` the fields of the entry that are still missing. Appends to `next` the entries
  // it refers to.
  void ReadEntry(const Reference& entry, Found& found, std::vector<Reference>& next);
  Reference Follow(const Unit& unit, const FormValue& value);
  Reference InUnits(const InfoUnits& units, std::uint64_t die);

  InfoUnits own_, shared_;
  // The units of these references, by file and offset.
  std::map<std::pair<const Sections*, std::uint64_t>, std::unique_ptr<const Unit>> units_;
};

}  // namespace perftape::dwarf
