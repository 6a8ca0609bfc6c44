// SPDX-License-Identifier: Apache-2.0
// Finds the name and the first line of a function. They may be in its own entry, in its abstract
// instance, or in the declaration in its class. The latter two may be in other units, or in the
// supplementary file to which dwz moves entries that several files share.
//
// A function without a linkage name, such as GCC's inlined lambdas, gets the names of the entries
// around its declaration. Otherwise all lambdas of a program would be one "operator()".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/dwarf/entry_scopes.h"
#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

struct EntryName {
  // The linkage name if there is one, else the name in the source with its scope. Empty without
  // both.
  std::string name;
  // The linkage name of the function around the declaration, of which `name` is a part. A view of
  // the sections.
  std::string_view enclosing;
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
    std::uint64_t file = 0;
    std::uint32_t line = 0, column = 0;
    std::uint16_t tag = 0;  // of the first entry
    bool is_artificial = false;
    std::optional<Reference> type = {};  // nothing for "void"
    Reference declaration = {};          // the last entry of the chain, whose parents are the scope
  };
  // The entries of a unit that scopes consist of, and the names of its unnamed types so far.
  struct UnitScopes {
    std::vector<EnclosingEntry> entries;
    std::map<std::uint32_t, std::string> unnamed_types;  // by index
    std::map<std::uint32_t, bool> has_named;             // by index of the parent
  };
  // Names from the innermost to the outermost one.
  struct ScopeParts {
    std::vector<std::string> names;
    std::string_view enclosing;
  };

  // Reads the entry and those it refers to.
  Found ReadChain(const Reference& entry);
  // Adds to `found` the fields of the entry that are still missing. Appends to `next` the entries
  // it refers to.
  void ReadEntry(const Reference& entry, Found& found, std::vector<Reference>& next);
  Reference Follow(const Unit& unit, const FormValue& value);
  Reference InUnits(const InfoUnits& units, std::uint64_t die);

  // The functions of scope_names.cc. The first one replaces GCC's "long unsigned int" by the
  // "unsigned long" of demanglers and of clang.
  static std::string WithDemanglersWords(std::string text);
  void AppendScope(Reference declaration, ScopeParts& parts);
  UnitScopes* ScopesOf(const Unit& unit);
  std::string NameOfType(const Unit& unit, UnitScopes& scopes, std::uint32_t index);
  void NameUnnamedTypes(const Unit& unit, UnitScopes& scopes, std::uint32_t parent);
  std::string UnnamedType(const Unit& unit, const UnitScopes& scopes, std::uint32_t index);
  std::optional<std::string> Parameters(const Unit& unit, std::uint64_t function);
  std::optional<std::string> TypeText(const std::optional<Reference>& type, unsigned depth);
  std::string SourcePosition(const Unit& unit, const Found& found) const;

  InfoUnits own_, shared_;
  // The units of these references, by file and offset.
  std::map<std::pair<const Sections*, std::uint64_t>, std::unique_ptr<const Unit>> units_;
  std::map<std::pair<const Sections*, std::uint64_t>, UnitScopes> scopes_;
  std::uint64_t scope_work_ = 0;  // bytes of units that were read for their scopes
};

}  // namespace perftape::dwarf
