// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/filter_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "formats/base/duration.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::cli {
namespace {

std::unexpected<Error> Refuse(std::string_view option, std::string_view text,
                              std::string_view reason) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' {}", option, EscapeForTerminal(text), reason));
}

// Parses a decimal number that is at least 0.
std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number) || number < 0) return {};
  return number;
}

Result<std::optional<convert::TimePoint>> ParseTimePoint(std::string_view option,
                                                         std::string_view text) {
  if (text.empty()) return std::optional<convert::TimePoint>();
  const bool is_percent = text.ends_with('%');
  const auto number = NumberOf(is_percent ? text.substr(0, text.size() - 1) : text);
  constexpr double kMostSeconds = 9e9;  // their nanoseconds fit in 64 bits
  if (!number || *number > (is_percent ? 100 : kMostSeconds)) {
    return Refuse(option, text, "is neither seconds nor percent");
  }
  if (is_percent) return convert::TimePoint{.percent = number};
  return convert::TimePoint{.nanoseconds = std::llround(*number * kNsPerSecond)};
}

// Percent and seconds can be compared only after the recording is read.
bool IsReversed(const convert::TimeRange& range) {
  if (!range.from || !range.to) return false;
  if (range.from->percent && range.to->percent) return *range.to->percent < *range.from->percent;
  if (range.from->percent || range.to->percent) return false;
  return range.to->nanoseconds < range.from->nanoseconds;
}

}  // namespace

Result<convert::TimeRange> ParseTimeRange(std::string_view option, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return Refuse(option, text, "is not FROM,TO");
  convert::TimeRange range;
  TRY_ASSIGN(range.from, ParseTimePoint(option, text.substr(0, comma)));
  TRY_ASSIGN(range.to, ParseTimePoint(option, text.substr(comma + 1)));
  if (!range.from && !range.to) return Refuse(option, text, "has neither FROM nor TO");
  if (IsReversed(range)) return Refuse(option, text, "ends before it begins");
  return range;
}

Result<std::vector<std::int64_t>> ParseIds(std::string_view option, std::string_view text) {
  std::vector<std::int64_t> ids;
  for (const std::string_view word : SplitAtCommas(text)) {
    TRY_ASSIGN(const std::uint64_t id, ParseNumber(option, word, {.largest = INT32_MAX}));
    ids.push_back(static_cast<std::int64_t>(id));
  }
  return ids;
}

Result<convert::NameRegex> ParseRegex(std::string_view option, std::string_view text) {
  Result<convert::NameRegex> regex = convert::NameRegex::Compile(text);
  if (!regex) return Fail(InContext(option, std::move(regex).error()));
  return regex;
}

std::string OptionOf(const Command& command, convert::Filter filter) {
  return FindTag(command, TagOf(filter))->spelled();
}

}  // namespace perftape::cli
