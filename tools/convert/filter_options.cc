// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/filter_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::convert_tool {
namespace {

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// A decimal number that is not below 0.
std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number) || number < 0) return {};
  return number;
}

Result<std::optional<convert::TimePoint>> ParseTimePoint(std::string_view text) {
  if (text.empty()) return std::optional<convert::TimePoint>();
  const bool is_percent = text.ends_with('%');
  const auto number = NumberOf(is_percent ? text.substr(0, text.size() - 1) : text);
  constexpr double kMostSeconds = 9e9;  // of the nanoseconds that fit
  if (!number || *number > (is_percent ? 100 : kMostSeconds)) {
    return Usage(
        fmt::format("--time: '{}' is neither seconds nor percent", cli::EscapeForTerminal(text)));
  }
  if (is_percent) return convert::TimePoint{.percent = number};
  return convert::TimePoint{.nanoseconds = std::llround(*number * 1e9)};
}

// Percent and seconds are compared only where the recording is known.
bool IsReversed(const convert::TimeRange& range) {
  if (!range.from || !range.to) return false;
  if (range.from->percent && range.to->percent) return *range.to->percent < *range.from->percent;
  if (range.from->percent || range.to->percent) return false;
  return range.to->nanoseconds < range.from->nanoseconds;
}

// The values of an option that may be given several times; with commas in them.
void AddGlobs(const cli::Parsed& parsed, std::string_view key, convert::Globs& globs) {
  for (const std::string_view list : parsed.Values(key)) globs.Add(list);
}

Status AddIds(const cli::Parsed& parsed, std::string_view key, std::set<std::int64_t>& ids) {
  for (std::string_view list : parsed.Values(key)) {
    while (true) {
      const std::size_t comma = list.find(',');
      TRY_ASSIGN(const std::uint64_t id,
                 cli::ParseNumber(fmt::format("--{}", key), list.substr(0, comma),
                                  {.largest = INT32_MAX}));
      ids.insert(static_cast<std::int64_t>(id));
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  }
  return {};
}

Status ReadRegex(const cli::Parsed& parsed, std::string_view key,
                 std::optional<convert::NameRegex>& regex) {
  const auto expression = parsed.Value(key);
  if (!expression) return {};
  Result<convert::NameRegex> compiled = convert::NameRegex::Compile(*expression);
  if (!compiled) return Fail(InContext(fmt::format("--{}", key), std::move(compiled).error()));
  regex = *std::move(compiled);
  return {};
}

}  // namespace

Result<convert::TimeRange> ParseTimeRange(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) {
    return Usage(fmt::format("--time: '{}' is not FROM,TO", cli::EscapeForTerminal(text)));
  }
  convert::TimeRange range;
  TRY_ASSIGN(range.from, ParseTimePoint(text.substr(0, comma)));
  TRY_ASSIGN(range.to, ParseTimePoint(text.substr(comma + 1)));
  if (!range.from && !range.to) return Usage("--time: neither FROM nor TO");
  if (IsReversed(range)) {
    return Usage(fmt::format("--time: '{}' ends before it begins", cli::EscapeForTerminal(text)));
  }
  return range;
}

Result<convert::FilterOptions> FilterOf(const cli::Parsed& parsed) {
  convert::FilterOptions filter;
  AddGlobs(parsed, "event", filter.events);
  AddGlobs(parsed, "comm", filter.comms);
  AddGlobs(parsed, "cgroup", filter.cgroups);
  AddGlobs(parsed, "dso", filter.dsos);
  AddGlobs(parsed, "symbol", filter.symbols);
  TRY(AddIds(parsed, "pid", filter.pids));
  TRY(AddIds(parsed, "tid", filter.tids));
  for (const std::string_view list : parsed.Values("cpu")) {
    TRY_ASSIGN(const std::vector<int> cpus, cli::ParseCpuList("--cpu", list));
    filter.cpus.insert(cpus.begin(), cpus.end());
  }
  TRY(ReadRegex(parsed, "focus", filter.focus));
  TRY(ReadRegex(parsed, "ignore", filter.ignore));
  filter.no_kernel = parsed.Has("no-kernel");
  filter.no_user = parsed.Has("no-user");
  if (filter.no_kernel && filter.no_user) return Usage("--no-kernel and --no-user: one of them");
  if (const auto depth = parsed.Value("max-depth")) {
    TRY_ASSIGN(const std::uint64_t frames,
               cli::ParseNumber("--max-depth", *depth, {.smallest = 1, .largest = UINT32_MAX}));
    filter.max_depth = static_cast<std::uint32_t>(frames);
  }
  if (const auto percent = parsed.Value("min-percent")) {
    const auto number = NumberOf(*percent);
    if (!number || *number > 100) {
      return Usage(fmt::format("--min-percent: '{}' is no number from 0 to 100",
                               cli::EscapeForTerminal(*percent)));
    }
    filter.min_percent = *number;
  }
  return filter;
}

}  // namespace perftape::convert_tool
