// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/filter_options.h"

#include <fmt/format.h>

#include "formats/base/duration.h"
#include "formats/base/percent.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::cli {
namespace {

std::unexpected<Error> Refuse(std::string_view option, std::string_view text,
                              std::string_view reason) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' {}", option, EscapeForTerminal(text), reason));
}

Result<std::optional<convert::TimePoint>> ParseTimePoint(std::string_view option,
                                                         std::string_view text) {
  if (text.empty()) return std::optional<convert::TimePoint>();
  if (const auto percent = PercentOf(text, PercentSign::kRequired)) {
    return convert::TimePoint{.percent = percent};
  }
  if (const auto time = DurationOf(text, std::chrono::seconds(1))) {
    return convert::TimePoint{.nanoseconds = time->count()};
  }
  return Refuse(option, text,
                fmt::format("is neither a time nor a percentage: use a number of seconds, or one "
                            "with {}, or 0% to 100%",
                            kDurationUnits));
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
