// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/field_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "formats/base/similar.h"
#include "tools/common/cli/escape.h"

namespace perftape::cli {

std::string ChooseText(std::string_view wanted, const std::set<std::string>& choices) {
  constexpr std::size_t kMostNames = 20;
  const std::vector<std::string_view> names(choices.begin(), choices.end());
  std::vector<std::string_view> near;
  std::ranges::copy_if(names, std::back_inserter(near), [&](std::string_view name) {
    return name.find(wanted) != std::string_view::npos;
  });
  if (near.empty()) near = MostSimilar(wanted, names);
  if (near.empty()) near = names;
  const std::size_t left_out = near.size() - std::min(near.size(), kMostNames);
  near.resize(near.size() - left_out);
  return fmt::format("choose {}{}", EscapeForTerminal(fmt::format("{}", fmt::join(near, ", "))),
                     left_out == 0 ? "" : fmt::format(" or one of {} more", left_out));
}

}  // namespace perftape::cli
