// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/filter_options.h"

#include <fmt/core.h>

#include <cmath>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/base/percent.h"
#include "formats/base/text.h"
#include "tools/common/cli/escape.h"

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

std::string SamplesText(std::int64_t samples) {
  return Counted(static_cast<std::uint64_t>(samples), "sample");
}

// Returns the number of samples in `total`, or the sum of plain values.
std::string AmountText(const convert::EventTotals& event, const convert::Total& total) {
  if (event.values == convert::EventValues::kSampled) return fmt::format("{}", total.samples);
  const double scale = std::pow(10.0, event.decimals);
  return fmt::format("{:.{}f}", static_cast<double>(total.period) / scale, event.decimals);
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

std::string AmountText(const convert::EventTotals& event) {
  const std::string amount = AmountText(event, event.kept);
  if (event.values == convert::EventValues::kPlain) return amount;
  return SamplesText(event.kept.samples);
}

std::set<std::string> EventNames(const convert::Profile& profile) {
  std::set<std::string> names;
  for (const convert::Event& event : profile.events()) names.emplace(profile.text(event.name));
  return names;
}

std::string NoEventLine(const convert::Globs& wanted, const std::set<std::string>& sampled,
                        const std::vector<std::string>& recorded) {
  std::set<std::string_view> silent;
  for (const std::string& name : recorded) {
    if (wanted.Match(name)) silent.insert(name);
  }
  const std::string choice = "choose " + Joined(sampled, ", ");
  if (silent.empty()) return "--event: no such event: " + choice;
  return fmt::format("--event: no samples of {} were read: {}",
                     EscapeForTerminal(Joined(silent, ", ")), choice);
}

std::vector<std::string> FilterLines(const Command& command, const convert::FilterReport& report) {
  std::vector<std::string> lines;
  for (const convert::EventTotals& event : report.events) {
    std::string dropped;
    for (std::size_t i = 0; i < convert::kFilters; ++i) {
      const convert::Total& total = event.dropped[i];
      if (total.samples == 0 && total.period == 0) continue;
      dropped += fmt::format("{}{} dropped by {}", dropped.empty() ? "" : ", ",
                             AmountText(event, total), OptionOf(command, convert::Filter(i)));
    }
    if (dropped.empty()) continue;
    lines.push_back(fmt::format("{}: kept {} of {}{}; {}", event.name,
                                AmountText(event, event.kept), AmountText(event, event.read),
                                event.values == convert::EventValues::kPlain ? "" : " samples",
                                dropped));
  }
  return lines;
}

}  // namespace perftape::cli
