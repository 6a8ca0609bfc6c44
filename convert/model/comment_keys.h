// SPDX-License-Identifier: Apache-2.0
// The keys of the comments that say where a profile was recorded ("hostname: box"). Readers and
// writers of perf.data, whose header has a feature for each, use the same keys.
#pragma once

#include <string_view>

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

}  // namespace perftape::convert
