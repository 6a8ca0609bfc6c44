// SPDX-License-Identifier: Apache-2.0
// The formats of convert/formats.h as arguments of --from and --to.
#pragma once

#include <string_view>
#include <vector>

#include "convert/formats.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

std::vector<Offer> InputFormats();
// Each format with the suffixes of its files: "folded (.folded, .collapsed)".
std::vector<Offer> OutputFormats();

// Fail with kInvalidArgument if `text` is not such a format.
Result<const convert::Format*> ParseInputFormat(std::string_view option, std::string_view text);
Result<const convert::Format*> ParseOutputFormat(std::string_view option, std::string_view text);

bool CanWrite(const convert::Format& format);

// --from, for a const convert::Format*.
constexpr Option FromRow(std::string_view help, Target into) {
  return {.name = "from", .argument = "FORMAT", .help = help, .is_rare = true, .into = into};
}

}  // namespace perftape::cli
