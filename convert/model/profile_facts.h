// SPDX-License-Identifier: Apache-2.0
// What is known about a profile as a whole, as lines for people: "hostname: box". Most of them are
// the comments of the profile. Readers and writers of perf.data, whose header has a feature for
// each, use the same keys for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

inline constexpr std::string_view kHostnameComment = "hostname";
inline constexpr std::string_view kOsReleaseComment = "os release";
inline constexpr std::string_view kArchComment = "arch";
inline constexpr std::string_view kPerfVersionComment = "perf version";
inline constexpr std::string_view kCommandLineComment = "command line";

// Follows the key.
inline constexpr std::string_view kCommentSeparator = ": ";

// Returns "box" of "hostname: box" for the key "hostname"; empty if the comment has another key.
constexpr std::string_view CommentValue(std::string_view comment, std::string_view key) {
  if (!comment.starts_with(key)) return {};
  comment.remove_prefix(key.size());
  if (!comment.starts_with(kCommentSeparator)) return {};
  return comment.substr(kCommentSeparator.size());
}

// Returns the same of the first comment with this key; empty if there is none.
std::string_view FactOf(const Metadata& metadata, std::string_view key);

// The keys of facts that are not comments. A page builds its title from some of them
// (page/profile_facts.js).
inline constexpr std::string_view kRecordedFact = "recorded";
inline constexpr std::string_view kDurationFact = "duration";
inline constexpr std::string_view kLossesFact = "losses";

// Returns the comments, then when it was recorded (in UTC) and for how long, if that is known.
std::vector<std::string> FactsOf(const Metadata& metadata);

}  // namespace perftape::convert
