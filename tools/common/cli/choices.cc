// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/choices.h"

#include <fmt/format.h>

namespace perftape::cli {

std::string OffersText(std::span<const Offer> offers, Notes notes) {
  std::string text;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const bool is_last = i + 1 == offers.size();
    if (i != 0) text += is_last ? " or " : ", ";
    text += offers[i].word;
    if (notes == Notes::kShow && !offers[i].note.empty()) {
      text += fmt::format(" ({})", offers[i].note);
    }
  }
  return text;
}

}  // namespace perftape::cli
