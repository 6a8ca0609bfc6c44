// SPDX-License-Identifier: Apache-2.0
// Lists of name patterns, as written in options: "nginx*,java".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perftape::convert {

// Matches a name that equals one of the patterns, or matches one as a shell glob (* ? []). So
// "[kernel.kallsyms]" matches itself. Without patterns it matches nothing.
class Globs {
 public:
  Globs() = default;
  // Patterns separated by commas. An empty pattern matches the empty name.
  explicit Globs(std::string_view list);

  void Add(std::string_view list);
  bool empty() const { return patterns_.empty(); }
  bool Match(std::string_view name) const;
  // A pattern with a '/' is compared with the whole path, others with the part after the last '/'.
  bool MatchPath(std::string_view path) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace perftape::convert
