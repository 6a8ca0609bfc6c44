// SPDX-License-Identifier: Apache-2.0
// The sources of man pages, which embed_pages.cmake makes constants of the program.
#pragma once

#include <string>
#include <string_view>

namespace perftape::front_tool {

// Returns the text of tools/man/NAME.md; empty if it is not one of the pages with topics.
std::string ManPageSource(std::string_view name);

}  // namespace perftape::front_tool
