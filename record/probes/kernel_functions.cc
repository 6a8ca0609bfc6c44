// SPDX-License-Identifier: Apache-2.0
#include "record/probes/kernel_functions.h"

#include <algorithm>

#include "formats/base/file.h"

namespace perftape::record {

Result<std::vector<std::string>> ReadKernelFunctions() {
  TRY_ASSIGN(const std::string text, ReadWholeFile("/proc/kallsyms"));
  return DecodeKernelFunctions(text);
}

std::vector<std::string> DecodeKernelFunctions(std::string_view kallsyms) {
  std::vector<std::string> names;
  while (!kallsyms.empty()) {
    const std::size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
    std::string_view line = kallsyms.substr(0, end);
    kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
    const std::size_t space = line.find(' ');
    constexpr std::size_t kTypeAndSpaces = 3;
    if (space == std::string_view::npos || line.size() < space + kTypeAndSpaces) continue;
    const char type = line[space + 1];
    if (!std::string_view("tTwW").contains(type) || line.ends_with("\t[bpf]")) continue;
    line.remove_prefix(space + kTypeAndSpaces);
    if (line.starts_with("__pfx_")) continue;  // padding before a function
    names.emplace_back(line.substr(0, line.find('\t')));
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace perftape::record
