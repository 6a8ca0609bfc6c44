// SPDX-License-Identifier: Apache-2.0
#include "tools/record/rotation_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "formats/base/duration.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::record_tool {
namespace {

struct Unit {
  char letter;
  std::uint64_t factor;
};
constexpr Unit kSizes[] = {{'B', 1}, {'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}};
// 8 EiB.
constexpr std::uint64_t kLargestValue = INT64_MAX;

std::unexpected<Error> BadValue(std::string_view option, std::string_view text,
                                std::string_view wanted) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' is no {}", option, cli::EscapeForTerminal(text), wanted));
}

// Returns nothing unless `text` is a number above 0 with one of the units.
std::optional<std::uint64_t> WithUnit(std::string_view text, std::span<const Unit> units) {
  if (text.empty()) return std::nullopt;
  const auto unit = std::ranges::find(units, text.back(), &Unit::letter);
  const char* const end = text.data() + text.size() - 1;
  std::uint64_t number = 0;
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (unit == units.end() || error != std::errc{} || parsed != end) return std::nullopt;
  if (number == 0 || number > kLargestValue / unit->factor) return std::nullopt;
  return number * unit->factor;
}

}  // namespace

Result<SwitchMode> ParseSwitchMode(std::string_view option, std::string_view text) {
  if (text.empty() || text == "signal") return SwitchMode{};
  if (const auto bytes = WithUnit(text, kSizes)) return SwitchMode{.bytes = *bytes};
  // A bare number could be a size.
  const auto interval = DurationOf(text, std::chrono::nanoseconds(0));
  if (interval && interval->count() > 0) return SwitchMode{.interval = *interval};
  return BadValue(option, text,
                  fmt::format("mode: use 'signal', a size with B, K, M or G, or a time with {}",
                              kDurationUnits));
}

Result<std::uint64_t> ParseSize(std::string_view option, std::string_view text) {
  if (const auto bytes = WithUnit(text, kSizes)) return *bytes;
  return BadValue(option, text, "size: use a number above 0 with B, K, M or G, such as 100M");
}

Result<std::uint64_t> ParseFileCount(std::string_view option, std::string_view text) {
  return cli::ParseNumber(option, text, {.smallest = 1});
}

Result<std::string> ParseShellCommand(std::string_view option, std::string_view text) {
  if (text.empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: needs a command", option));
  }
  return std::string(text);
}

}  // namespace perftape::record_tool
