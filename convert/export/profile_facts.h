// SPDX-License-Identifier: Apache-2.0
// What is known about a profile as a whole, as lines for people: "hostname: box".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// The keys of facts that are no comments. A page makes its title of some (page/profile_facts.js).
inline constexpr std::string_view kRecordedFact = "recorded";
inline constexpr std::string_view kDurationFact = "duration";
inline constexpr std::string_view kLossesFact = "losses";

// Returns the comments, then when it was recorded (in UTC) and for how long, if that is known.
std::vector<std::string> FactsOf(const Metadata& metadata);

}  // namespace perftape::convert
