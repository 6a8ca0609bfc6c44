// SPDX-License-Identifier: Apache-2.0
#include "convert/model/profile_facts.h"

#include <fmt/core.h>

#include <array>
#include <ctime>
#include <string_view>

#include "formats/base/duration.h"

namespace perftape::convert {

std::string_view FactOf(const Metadata& metadata, std::string_view key) {
  for (const std::string& comment : metadata.comments) {
    if (const std::string_view value = CommentValue(comment, key); !value.empty()) return value;
  }
  return {};
}

std::vector<std::string> FactsOf(const Metadata& metadata) {
  std::vector<std::string> facts = metadata.comments;
  if (metadata.start_time_ns && *metadata.start_time_ns > 0) {
    const std::time_t seconds = *metadata.start_time_ns / kNsPerSecond;
    std::tm utc = {};
    if (gmtime_r(&seconds, &utc) != nullptr) {
      std::array<char, 64> text = {};
      const std::size_t size = std::strftime(text.data(), text.size(), "%F %T UTC", &utc);
      facts.push_back(fmt::format("{}{}{}", kRecordedFact, kCommentSeparator,
                                  std::string_view(text.data(), size)));
    }
  }
  if (metadata.duration_ns > 0) {
    facts.push_back(fmt::format("{}{}{:.4g} s", kDurationFact, kCommentSeparator,
                                static_cast<double>(metadata.duration_ns) / kNsPerSecond));
  }
  return facts;
}

}  // namespace perftape::convert
