// SPDX-License-Identifier: Apache-2.0
// The modifiers of an event: the letters at the end of "cycles:upp" (man perf-list, EVENT
// MODIFIERS), and what each changes in the attribute (tools/perf/util/parse-events.c,
// get_event_modifier).
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

// precise_ip has two bits.
inline constexpr std::size_t kMostPrecise = 3;

// Whether all of `text` are letters of modifiers. perf refuses some of their combinations
// (AreValidModifiers).
bool AreModifiers(std::string_view text);

// Whether perf takes these letters together: each of them once, but up to three p.
bool AreValidModifiers(std::string_view letters);

// Returns the name without its modifiers: "cpu-clock" of "cpu-clock:u". "skb:kfree_skb" has none.
std::string_view WithoutModifiers(std::string_view name);

// Applies valid letters to `attr`, as perf does:
//   * The first of u, k and h excludes all three modes; each of them includes its own again. Modes
//     that are excluded already, by modifiers before these, stay so.
//   * The first of G and H excludes guests and the host; each includes its own again. Without both,
//     u and p exclude guests, and other letters include them, if `attr` has no modifiers yet.
//   * p raises precise_ip by one, P sets it to the highest value.
//   * S adds READ to the samples, with the ids of the values.
//   * W and b change nothing of the attribute.
void ApplyModifiers(std::string_view letters, EventAttr& attr);

// The same for the letters of a group, which apply to each of its events: letters that are not
// about guests leave exclude_guest as it is.
void ApplyGroupModifiers(std::string_view letters, EventAttr& attr);

}  // namespace perftape::perfdata
