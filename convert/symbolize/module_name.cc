// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/module_name.h"

#include <algorithm>

#include "convert/model/profile.h"

namespace perftape::symbolize {

std::string ModuleNameOf(std::string_view filename) {
  if (filename.starts_with("[kernel") || IsGuestName(filename)) return {};
  if (filename.starts_with('[') && filename.ends_with(']')) {
    return std::string(filename.substr(1, filename.size() - 2));
  }
  const std::string_view base = convert::BaseName(filename);
  const std::size_t ending = base.find(".ko");
  if (ending == std::string_view::npos) return {};
  std::string module(base.substr(0, ending));
  // The kernel writes '_' where the file has '-'.
  std::ranges::replace(module, '-', '_');
  return module;
}

}  // namespace perftape::symbolize
