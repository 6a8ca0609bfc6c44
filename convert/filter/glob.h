// SPDX-License-Identifier: Apache-2.0
// Names as options give them: "nginx*,java".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perftape::convert {

// Matches what one of its patterns is, character by character, or as the shell's globs do (* ? []):
// "[kernel.kallsyms]" is meant as it stands. Without patterns it matches nothing.
class Globs {
 public:
  Globs() = default;
  // Patterns between commas; an empty one is the empty name.
  explicit Globs(std::string_view list);

  void Add(std::string_view list);
  bool empty() const { return patterns_.empty(); }
  bool Match(std::string_view name) const;
  // A pattern with a '/' is matched with the whole path, others with what is behind its last '/'.
  bool MatchPath(std::string_view path) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace perftape::convert
