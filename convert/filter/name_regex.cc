// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/name_regex.h"

#include <re2/re2.h>

#include <string>
#include <utility>

namespace perftape::convert {

Result<NameRegex> NameRegex::Compile(std::string_view expression) {
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);  // names are bytes
  auto regex = std::make_shared<const RE2>(std::string(expression), options);
  if (!regex->ok()) {
    return Fail(ErrorCode::kInvalidArgument,
                "'" + std::string(expression) + "' is not a regular expression: " + regex->error());
  }
  return NameRegex(std::move(regex));
}

NameRegex::NameRegex(std::shared_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}

bool NameRegex::Find(std::string_view name) const {
  return RE2::PartialMatch({name.data(), name.size()}, *regex_);
}

}  // namespace perftape::convert
