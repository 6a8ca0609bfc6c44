// SPDX-License-Identifier: Apache-2.0
// Formats the choices of an option.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/common/cli/target.h"

namespace perftape::cli {

enum class Notes : std::uint8_t { kShow, kHide };

// Returns "comm (default), comm/pid or none".
std::string OffersText(std::span<const Offer> offers, Notes notes);

}  // namespace perftape::cli
