// SPDX-License-Identifier: Apache-2.0
#include "formats/base/similar.h"

#include <algorithm>
#include <numeric>

namespace perftape {
inline namespace base {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, exchanged});
    }
  }
  return row.back();
}

std::vector<std::string_view> MostSimilar(std::string_view word,
                                          std::span<const std::string_view> names) {
  constexpr std::size_t kFar = 3;
  std::vector<std::string_view> nearest;
  std::size_t distance = kFar;
  for (const std::string_view name : names) {
    const bool begins_so = !word.empty() && name.starts_with(word);
    const std::size_t its_distance = begins_so ? 0 : EditDistance(name, word);
    if (its_distance > distance || its_distance >= kFar) continue;
    if (its_distance < distance) nearest.clear();
    distance = its_distance;
    nearest.push_back(name);
  }
  return nearest;
}

}  // namespace base
}  // namespace perftape
