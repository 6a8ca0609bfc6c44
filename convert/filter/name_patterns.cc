// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/name_patterns.h"

#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>

#include "formats/base/text.h"

namespace perftape::convert {
namespace {

bool Matches(const std::string& pattern, std::string_view name) {
  return pattern == name || fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
}

}  // namespace

Globs::Globs(std::string_view list) {
  Add(list);
}

void Globs::Add(std::string_view list) {
  while (true) {
    const std::size_t comma = list.find(',');
    patterns_.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

std::string Globs::text() const {
  return Joined(patterns_, ",");
}

bool Globs::Match(std::string_view name) const {
  return std::ranges::any_of(patterns_, [&](const std::string& p) { return Matches(p, name); });
}

bool Globs::MatchPath(std::string_view path) const {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
    return Matches(pattern, pattern.contains('/') ? path : base);
  });
}

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
