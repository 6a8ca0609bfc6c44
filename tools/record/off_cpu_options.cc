// SPDX-License-Identifier: Apache-2.0
#include "tools/record/off_cpu_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "tools/common/cli/escape.h"

namespace perftape::record_tool {
namespace {

// The longer units first. The last one is for a number without a unit.
constexpr std::pair<std::string_view, double> kUnits[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e6}};

}  // namespace

Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text) {
  constexpr double kLongestNs = 1e18;  // 30 years; the nanoseconds do not overflow
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit_start, error] =
      std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const std::string_view unit(unit_start, static_cast<std::size_t>(end - unit_start));
  const auto* const found =
      std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  const bool is_time = error == std::errc{} && found != std::end(kUnits) && number >= 0 &&
                       number * found->second <= kLongestNs;
  if (is_time) return std::chrono::nanoseconds(std::llround(number * found->second));
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' is no time: write a number with ns, us, ms or s, such as 500us",
                          option, cli::EscapeForTerminal(text)));
}

Status AddWakers(std::vector<record::EventSpec>& events) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(events, name, &record::EventSpec::name) != events.end();
  };
  if (!has("offcpu")) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "--wakers: wakers are recorded together with the waits that they end: add -e offcpu");
  }
  if (!has("wakeup")) events.push_back({.text = "wakeup", .name = "wakeup"});
  return {};
}

}  // namespace perftape::record_tool
