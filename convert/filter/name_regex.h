// SPDX-License-Identifier: Apache-2.0
// Regular expressions as in pprof's focus and ignore. RE2 matches in time linear in the name.
#pragma once

#include <memory>
#include <string_view>

#include "formats/base/result.h"

namespace re2 {
class RE2;
}

namespace perftape::convert {

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
