// SPDX-License-Identifier: Apache-2.0
// The names of the scopes around a function, as a demangler writes them: GCC gives functions of
// lambdas and of local types no linkage name.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "formats/dwarf/entry_names.h"
#include "formats/dwarf/line_program.h"

namespace perftape::dwarf {
namespace {

// Limits for forged files.
constexpr unsigned kDeepestScope = 64;
constexpr unsigned kDeepestType = 8;
constexpr std::size_t kMostParameters = 64;
constexpr std::size_t kMostUnnamedTypes = 1024;  // in one scope
constexpr std::size_t kLongestScope = 4096;
constexpr std::uint64_t kScopeWorkPerByte = 16;

// No scope names a function of C: its functions are at the top level, apart from GCC's nested ones.
bool HasScopes(std::uint64_t language) {
  return language != DW_LANG_C89 && language != DW_LANG_C && language != DW_LANG_C99 &&
         language != DW_LANG_C11 && language != DW_LANG_C17;
}

bool IsLambda(std::string_view name) {
  return name.starts_with("<lambda");
}

bool IsCallOperator(std::string_view name) {
  return name == "operator()" || name.starts_with("operator()<");
}

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string EntryNames::WithDemanglersWords(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {
      {{"long long unsigned int", "unsigned long long"},
       {"long unsigned int", "unsigned long"},
       {"short unsigned int", "unsigned short"},
       {"long long int", "long long"},
       {"__int128 unsigned", "unsigned __int128"},
       {"long int", "long"},
       {"short int", "short"}}};
  for (const auto& [from, to] : kWords) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

void EntryNames::AppendScope(Reference declaration, ScopeParts& parts) {
  std::size_t size = 0;
  for (unsigned depth = 0; depth < kDeepestScope && declaration.unit != nullptr; ++depth) {
    const Unit& unit = *declaration.unit;
    UnitScopes* const scopes = ScopesOf(unit);
    if (scopes == nullptr) return;
    const auto index = FindEnclosing(scopes->entries, declaration.die);
    if (!index) return;
    const EnclosingEntry& entry = scopes->entries[*index];
    const Found found = ReadChain({&unit, entry.die});
    if (entry.is_function() && !found.linkage_name.empty()) {
      parts.enclosing = found.linkage_name;
      return;
    }
    std::string name(found.name);
    if (entry.is_namespace()) {
      if (name.empty()) name = "(anonymous namespace)";
    } else if (!entry.is_function()) {
      name = NameOfType(unit, *scopes, *index);
    }
    size += name.size();
    if (size > kLongestScope) return;
    if (!name.empty()) parts.names.push_back(std::move(name));
    declaration = found.declaration;
  }
}

// Null if the unit has no scopes, or too much was read for scopes.
EntryNames::UnitScopes* EntryNames::ScopesOf(const Unit& unit) {
  if (!HasScopes(unit.language)) return nullptr;
  const std::pair key(unit.sections, unit.header.offset);
  const auto known = scopes_.find(key);
  if (known != scopes_.end()) return &known->second;
  const std::uint64_t all = own_.sections->info.size() +
                            (shared_.sections == nullptr ? 0 : shared_.sections->info.size());
  if (scope_work_ > kScopeWorkPerByte * std::max<std::uint64_t>(all, unit.sections->info.size())) {
    return nullptr;
  }
  scope_work_ += unit.header.end - unit.header.offset;
  UnitScopes& scopes = scopes_[key];
  scopes.entries = ReadEnclosingEntries(unit);
  return &scopes;
}

std::string EntryNames::NameOfType(const Unit& unit, UnitScopes& scopes, std::uint32_t index) {
  const Found found = ReadChain({&unit, scopes.entries[index].die});
  if (!found.name.empty() && !IsLambda(found.name)) {
    return WithDemanglersWords(std::string(found.name));
  }
  const std::uint32_t parent = scopes.entries[index].parent;
  if (scopes.has_named.try_emplace(parent).second) NameUnnamedTypes(unit, scopes, parent);
  const auto named = scopes.unnamed_types.find(index);
  return named == scopes.unnamed_types.end() ? "{unnamed type}" : named->second;
}

// The number of a type counts those with the same text before it in the source, as in a mangled
// name. Outside of functions and types, where several units may have one, the position tells them
// apart.
void EntryNames::NameUnnamedTypes(const Unit& unit, UnitScopes& scopes, std::uint32_t parent) {
  const bool is_top_level =
      parent == EnclosingEntry::kNoParent || scopes.entries[parent].is_namespace();
  struct UnnamedEntry {
    std::uint32_t line, column, index;
    std::string text, position;
  };
  std::vector<UnnamedEntry> all;
  const std::size_t first = parent == EnclosingEntry::kNoParent ? 0 : parent + 1;
  const std::uint64_t end =
      parent == EnclosingEntry::kNoParent ? unit.header.end : scopes.entries[parent].end;
  for (std::size_t i = first; i < scopes.entries.size() && scopes.entries[i].die < end; ++i) {
    const EnclosingEntry& entry = scopes.entries[i];
    if (entry.parent != parent || entry.is_function() || entry.is_namespace()) continue;
    const Found found = ReadChain({&unit, entry.die});
    if (!found.name.empty() && !IsLambda(found.name)) continue;
    if (all.size() == kMostUnnamedTypes) break;
    const auto index = static_cast<std::uint32_t>(i);
    all.push_back({found.line, found.column, index, UnnamedType(unit, scopes, index),
                   is_top_level ? SourcePosition(unit, found) : std::string()});
  }
  std::ranges::sort(all, {}, [](const UnnamedEntry& entry) {
    return std::tuple(entry.line, entry.column, entry.index);
  });
  std::map<std::string, unsigned> counts;
  for (const UnnamedEntry& entry : all) {
    const std::string mark = entry.position.empty() ? "#" + std::to_string(++counts[entry.text])
                                                    : " at " + entry.position;
    scopes.unnamed_types[entry.index] = "{" + entry.text + mark + "}";
  }
}

// "lambda(int)" if the type has a call operator whose parameters are known.
std::string EntryNames::UnnamedType(const Unit& unit, const UnitScopes& scopes,
                                    std::uint32_t index) {
  const EnclosingEntry& type = scopes.entries[index];
  for (std::size_t i = index + 1; i < scopes.entries.size(); ++i) {
    const EnclosingEntry& member = scopes.entries[i];
    if (member.die >= type.end) break;
    if (member.parent != index || !member.is_function()) continue;
    const Found found = ReadChain({&unit, member.die});
    if (!IsCallOperator(found.name)) continue;
    if (found.name != "operator()") return "lambda";  // generic: its parameters differ by call
    const auto parameters = Parameters(unit, member.die);
    return parameters ? "lambda(" + *parameters + ")" : "lambda";
  }
  return "unnamed type";
}

// Nothing if a type cannot be written as in a mangled name.
std::optional<std::string> EntryNames::Parameters(const Unit& unit, std::uint64_t function) {
  Cursor at = unit.InfoAt(function);
  std::string text;
  unsigned depth = 0;
  for (std::size_t i = 0; i < 4 * kMostParameters && at.ok(); ++i) {
    const std::uint64_t die = at.offset();
    const std::uint64_t code = at.Uleb();
    if (code == 0) {
      if (depth <= 1) return text;
      --depth;
      continue;
    }
    const Abbreviation* entry = unit.abbreviations.Find(code);
    if (entry == nullptr) return std::nullopt;
    for (const AttributeShape& shape : unit.abbreviations.shapes(*entry)) {
      ReadForm(at, shape.form, shape.constant, unit.header.encoding);
    }
    if (depth == 1 && entry->tag == DW_TAG_formal_parameter) {
      const Found found = ReadChain({&unit, die});
      const auto type = found.is_artificial ? std::string() : TypeText(found.type, kDeepestType);
      if (!type) return std::nullopt;
      if (!text.empty() && !type->empty()) text += ", ";
      text += *type;
    }
    if (entry->has_children) {
      ++depth;
    } else if (depth == 0) {
      return text;
    }
  }
  return std::nullopt;
}

std::optional<std::string> EntryNames::TypeText(const std::optional<Reference>& type,
                                                unsigned depth) {
  if (!type) return "void";
  if (type->unit == nullptr || depth == 0) return std::nullopt;
  const Found found = ReadChain(*type);
  const auto with = [&](std::string_view suffix) {
    auto text = TypeText(found.type, depth - 1);
    if (text) text->append(suffix);
    return text;
  };
  switch (found.tag) {
    case DW_TAG_pointer_type:
      return with("*");
    case DW_TAG_reference_type:
      return with("&");
    case DW_TAG_rvalue_reference_type:
      return with("&&");
    case DW_TAG_const_type:
      return with(" const");
    case DW_TAG_volatile_type:
      return with(" volatile");
    case DW_TAG_typedef:
      return with("");
    case DW_TAG_base_type:
      return WithDemanglersWords(std::string(found.name));
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
      break;
    default:
      return std::nullopt;
  }
  // A type in a function has a scope that is itself a function with parameters.
  ScopeParts scope;
  if (found.name.empty() || IsLambda(found.name)) return std::nullopt;
  const UnitScopes* const scopes = ScopesOf(*type->unit);
  if (scopes == nullptr) return std::nullopt;
  std::optional<std::uint32_t> around = FindEnclosing(scopes->entries, found.declaration.die);
  if (found.declaration.unit != type->unit) return std::nullopt;
  for (unsigned i = 0; around && i < kDeepestScope; ++i) {
    const EnclosingEntry& entry = scopes->entries[*around];
    const Found named = ReadChain({type->unit, entry.die});
    if (entry.is_function() || (named.name.empty() && !entry.is_namespace())) return std::nullopt;
    scope.names.emplace_back(named.name.empty() ? "(anonymous namespace)" : named.name);
    around = entry.parent == EnclosingEntry::kNoParent ? std::nullopt : std::optional(entry.parent);
  }
  std::string text;
  for (auto part = scope.names.rbegin(); part != scope.names.rend(); ++part) text += *part + "::";
  return WithDemanglersWords(text.append(found.name));
}

// "cart.cc:12:5"; the unit's name without a table of files.
std::string EntryNames::SourcePosition(const Unit& unit, const Found& found) const {
  std::string path(unit.name);
  if (unit.line_program) {
    if (const auto files = LineHeader::Read(unit)) {
      const std::string declared = files->Path(found.file, {});
      if (!declared.empty()) path = declared;
    }
  }
  return std::string(FileName(path)) + ":" + std::to_string(found.line) + ":" +
         std::to_string(found.column);
}

}  // namespace perftape::dwarf
