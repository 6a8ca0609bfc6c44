// SPDX-License-Identifier: Apache-2.0
#include "record/machine/did_you_mean.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "formats/base/similar.h"
#include "formats/base/text.h"

namespace perftape::record {

std::string DidYouMean(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::string_view> similar = MostSimilar(word, views);
  const auto repeated = std::ranges::unique(similar);
  similar.erase(repeated.begin(), repeated.end());
  if (similar.empty()) return "";
  constexpr std::size_t kMost = 5;
  if (similar.size() > kMost) similar.resize(kMost);
  return fmt::format("; did you mean {}?", Joined(similar, " or "));
}

bool IsGlob(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

}  // namespace perftape::record
