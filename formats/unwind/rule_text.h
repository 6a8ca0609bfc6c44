// SPDX-License-Identifier: Apache-2.0
// A rule as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/unwind/rule.h"

namespace perftape::unwind {

struct RegisterNames {
  std::string_view sp, fp, link, base, count;
  std::span<const std::string_view> general;  // by their numbers in call frame information
};
RegisterNames RegisterNamesOf(Machine machine);

// What a rule finds, in the words of readelf's --debug-dump=frames-interp: c is the CFA.
struct RuleText {
  // "rsp+16", "*(rbp-8)", "*(rsp+8*r9+8)+8", "rsp+8,+8@11" of a linkage table, "end", "none",
  // "unsupported"
  std::string cfa;
  // "c-16", "rbp" if it is in the register, "?" if it is lost; empty with the last three.
  std::string fp, ra, bx;
  // "signal", "signed", "unsure", "derived", "other stack"; several: "signal,signed"
  std::string flags;
};
RuleText TextOf(const Rule& rule, const RegisterNames& names);

}  // namespace perftape::unwind
