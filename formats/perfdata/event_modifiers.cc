// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_modifiers.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/abi.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kModes = kExcludeUser | kExcludeKernel | kExcludeHv;
constexpr std::uint64_t kMachines = kExcludeHost | kExcludeGuest;

struct Modifier {
  char letter;
  std::uint64_t includes = 0;  // an exclusion that it removes, after all of its kind were set
  std::uint64_t sets = 0;
  std::uint64_t precise = 0;  // added to precise_ip
  bool excludes_guest = false;
};
constexpr Modifier kModifiers[] = {
    {.letter = 'u', .includes = kExcludeUser, .excludes_guest = true},
    {.letter = 'k', .includes = kExcludeKernel},
    {.letter = 'h', .includes = kExcludeHv},
    {.letter = 'G', .includes = kExcludeGuest},
    {.letter = 'H', .includes = kExcludeHost},
    {.letter = 'p', .precise = 1, .excludes_guest = true},
    {.letter = 'P', .precise = kMostPrecise},
    {.letter = 'S'},
    {.letter = 'D', .sets = kPinned},
    {.letter = 'I', .sets = kExcludeIdle},
    {.letter = 'W'},
    {.letter = 'e', .sets = kExclusive},
    {.letter = 'b'},
};

const Modifier* FindModifier(char letter) {
  const auto* const found = std::ranges::find(kModifiers, letter, &Modifier::letter);
  return found == std::end(kModifiers) ? nullptr : found;
}

// Removes the exclusion `bit`; excludes all of its kind first, if none is excluded yet.
void Include(std::uint64_t bit, std::uint64_t kind, bool& is_chosen, std::uint64_t& flags) {
  if (!is_chosen) flags |= kind;
  is_chosen = true;
  flags &= ~bit;
}

// `keeps_guest`: exclude_guest is kept if no letter is about it.
void Apply(std::string_view letters, bool keeps_guest, EventAttr& attr) {
  const bool excluded_guest = attr.Has(kExcludeGuest);
  bool has_modes = (attr.flags & kModes) != 0, has_machines = attr.Has(kExcludeHost);
  bool excludes_guest = keeps_guest && excluded_guest;
  std::uint64_t precise = attr.flags >> kPreciseIpShift & kMostPrecise;
  if (!has_machines) attr.flags &= ~kMachines;
  for (const char letter : letters) {
    const Modifier* const modifier = FindModifier(letter);
    if (modifier == nullptr) continue;
    if ((modifier->includes & kModes) != 0) {
      Include(modifier->includes, kModes, has_modes, attr.flags);
    }
    if ((modifier->includes & kMachines) != 0) {
      Include(modifier->includes, kMachines, has_machines, attr.flags);
    }
    attr.flags |= modifier->sets;
    precise = std::min<std::uint64_t>(precise + modifier->precise, kMostPrecise);
    excludes_guest |= modifier->excludes_guest;
  }
  if (excludes_guest && !has_machines) attr.flags |= kExcludeGuest;
  attr.flags &= ~(std::uint64_t{kMostPrecise} << kPreciseIpShift);
  attr.flags |= precise << kPreciseIpShift;
  if (!letters.contains('S')) return;
  attr.sample_type |= kRead;
  attr.read_format |= kReadId;
}

}  // namespace

bool AreModifiers(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char letter) { return FindModifier(letter) != nullptr; });
}

bool AreValidModifiers(std::string_view letters) {
  if (!AreModifiers(letters)) return false;
  return std::ranges::all_of(letters, [&](char letter) {
    const auto count = static_cast<std::size_t>(std::ranges::count(letters, letter));
    return count <= (letter == 'p' ? kMostPrecise : 1);
  });
}

std::string_view WithoutModifiers(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || !AreModifiers(name.substr(colon + 1))) return name;
  return name.substr(0, colon);
}

void ApplyModifiers(std::string_view letters, EventAttr& attr) {
  if (!letters.empty()) Apply(letters, false, attr);
}

void ApplyGroupModifiers(std::string_view letters, EventAttr& attr) {
  if (!letters.empty()) Apply(letters, true, attr);
}

}  // namespace perftape::perfdata
