// SPDX-License-Identifier: Apache-2.0
#include "tools/common/recording/own_command_line.h"

#include <algorithm>
#include <string_view>

#include "formats/base/file.h"

namespace perftape::recording {

std::vector<std::string> OwnCommandLine() {
  std::vector<std::string> words;
  const Result<std::string> text = ReadWholeFile("/proc/self/cmdline");
  if (!text) return words;
  std::string_view left = *text;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find('\0'));
    words.emplace_back(word);
    left.remove_prefix(std::min(left.size(), word.size() + 1));
  }
  return words;
}

}  // namespace perftape::recording
