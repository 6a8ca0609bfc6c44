// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/hit_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

namespace perftape::histogram {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::unexpected<Error> Unclear(std::string_view text) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("--time {}: write START,STOP in seconds, 10%-20% or 10%/2", text));
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Parses "12.000345" without rounding.
std::optional<std::uint64_t> NanosecondsOf(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::uint64_t seconds = 0, fraction = 0;
  const auto whole = std::from_chars(text.data(), text.data() + point, seconds);
  if (whole.ec != std::errc() || whole.ptr != text.data() + point) return std::nullopt;
  std::string digits(text.substr(std::min(point + 1, text.size())));
  if (digits.size() > 9 || seconds > UINT64_MAX / kSecond - 1) return std::nullopt;
  digits.resize(9, '0');
  const auto part = std::from_chars(digits.data(), digits.data() + digits.size(), fraction);
  if (part.ec != std::errc() || part.ptr != digits.data() + digits.size()) return std::nullopt;
  return seconds * kSecond + fraction;
}

// Parses "10%-20%" and "10%/2".
std::optional<TimeSlice> SliceOf(std::string_view text, const TimeSlice& recording) {
  const std::size_t percent = text.find('%');
  if (percent == text.npos || percent + 1 >= text.size()) return std::nullopt;
  const std::optional<double> first = NumberOf(text.substr(0, percent));
  std::string_view rest = text.substr(percent + 2);
  const bool is_range = text[percent + 1] == '-';
  if (is_range && !rest.ends_with('%')) return std::nullopt;
  if (is_range) rest.remove_suffix(1);
  const std::optional<double> second = NumberOf(rest);
  if (!first || !second || (!is_range && (text[percent + 1] != '/' || *second < 1))) return {};
  const double from = is_range ? *first : *first * (*second - 1);
  const double to = is_range ? *second : *first * *second;
  if (from > to || to > 100) return std::nullopt;
  const auto total = static_cast<double>(recording.last - recording.first);
  const auto at = [&](double share) {
    return recording.first + static_cast<std::uint64_t>(std::llround(share / 100 * total));
  };
  // The end belongs to the next slice.
  const std::uint64_t last = at(to);
  return TimeSlice{.first = at(from), .last = to < 100 && last > 0 ? last - 1 : last};
}

bool Has(const std::set<std::string, std::less<>>& names, const std::string& name) {
  return names.empty() || names.contains(name);
}

bool Has(const std::set<std::int64_t>& numbers, std::int64_t number) {
  return numbers.empty() || numbers.contains(number);
}

}  // namespace

Result<std::vector<TimeSlice>> ParseTimes(std::string_view text, const TimeSlice& recording) {
  std::vector<TimeSlice> slices;
  if (text.find('%') == text.npos) {
    const std::size_t comma = text.find(',');
    TimeSlice slice;
    const std::string_view from = text.substr(0, comma);
    const std::string_view to = comma == text.npos ? "" : text.substr(comma + 1);
    const auto first = NanosecondsOf(from), last = NanosecondsOf(to);
    if ((!from.empty() && !first) || (!to.empty() && !last) || text.empty()) return Unclear(text);
    if (!from.empty()) slice.first = *first;
    if (!to.empty()) slice.last = *last;
    slices.push_back(slice);
    return slices;
  }
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::optional<TimeSlice> slice = SliceOf(text.substr(0, comma), recording);
    if (!slice) return Unclear(text);
    slices.push_back(*slice);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return slices;
}

bool HitFilter::Drops(const Hit& hit) const {
  if (!Has(cpus, hit.cpu) || (hides_unresolved && hit.leaf.symbol == 0)) return true;
  return !times.empty() && std::ranges::none_of(times, [&](const TimeSlice& slice) {
    return slice.first <= hit.time_ns && hit.time_ns <= slice.last;
  });
}

bool HitFilter::Hides(const Hit& hit, const NameTable& names) const {
  if (!Has(comms, names.texts[hit.comm]) || !Has(pids, hit.pid) || !Has(tids, hit.tid)) return true;
  // perf does not compare the dso of an address where nothing is mapped.
  if (hit.leaf.dso != 0 && !Has(dsos, names.texts[hit.leaf.dso])) return true;
  const std::string& symbol = names.texts[names.symbols[hit.leaf.symbol].name];
  if (hit.leaf.symbol != 0 && !Has(symbols, symbol)) return true;
  return !symbol_part.empty() && symbol.find(symbol_part) == symbol.npos;
}

}  // namespace perftape::histogram
