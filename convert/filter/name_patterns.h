// SPDX-License-Identifier: Apache-2.0
// Patterns of names, as written in options.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace re2 {
class RE2;
}

namespace perftape::convert {

// A list of name patterns: "nginx*,java". Matches a name that equals one of the patterns, or
// matches one as a shell glob (* ? []). So
// "[kernel.kallsyms]" matches itself. Without patterns it matches nothing.
class Globs {
 public:
  Globs() = default;
  // Patterns separated by commas. An empty pattern matches the empty name.
  explicit Globs(std::string_view list);

  void Add(std::string_view list);
  bool empty() const { return patterns_.empty(); }
  // Returns the patterns as a list.
  std::string text() const;
  bool Match(std::string_view name) const;
  // A pattern with a '/' is compared with the whole path, others with the part after the last '/'.
  bool MatchPath(std::string_view path) const;

 private:
  std::vector<std::string> patterns_;
};

// Regular expressions as in pprof's focus and ignore. RE2 matches in time linear in the name.
class NameRegex {
 public:
  // Fails with kInvalidArgument and RE2's message.
  static Result<NameRegex> Compile(std::string_view expression);

  // Returns whether any part of `name` matches.
  bool Find(std::string_view name) const;

 private:
  explicit NameRegex(std::shared_ptr<const re2::RE2> regex);
  std::shared_ptr<const re2::RE2> regex_;  // shared by copies: matching does not change it
};

}  // namespace perftape::convert
