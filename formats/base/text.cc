// SPDX-License-Identifier: Apache-2.0
#include "formats/base/text.h"

#include <fmt/format.h>

#include <iterator>

namespace perftape {
inline namespace base {

void AppendArguments(std::string& out, std::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(out), format, args);
}

}  // namespace base
}  // namespace perftape
