// SPDX-License-Identifier: Apache-2.0
#include "tools/common/recording/recording_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "formats/base/byte_size.h"
#include "formats/base/file.h"
#include "formats/perfdata/abi.h"
#include "record/events/known_events.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::recording {
namespace {

// Without copies of stacks.
constexpr cli::Choice<record::Callchains> kMethods[] = {
    {"fp", record::Callchains::kFramePointers, "frame pointers"},
    {"eh", record::Callchains::kUnwindTables, "unwind tables of the binaries"},
    {"none", record::Callchains::kNone},
};
constexpr std::string_view kStackCopy = "dwarf", kWithStackCopy = "+dwarf";
constexpr std::string_view kStackCopyNote =
    "copies of registers and stack, for perf report; dwarf,SIZE limits a copy to SIZE, default 8K, "
    "at most 65528";

// perf's default, limit and rounding (tools/perf/util/callchain.c, get_stack_size).
Result<std::uint32_t> ParseStackSize(std::string_view option, std::string_view text) {
  constexpr std::uint32_t kDefault = 8192;
  if (text.empty()) return kDefault;
  TRY_ASSIGN(const std::uint64_t size,
             cli::ParseSizeWith(option, text, {.largest = record::kMaxStackBytes}));
  return static_cast<std::uint32_t>(RoundUpToWord(size));
}

std::unexpected<Error> BadValue(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

}  // namespace

std::optional<std::uint64_t> HighestFrequency() {
  const Result<std::string> text = ReadWholeFile("/proc/sys/kernel/perf_event_max_sample_rate");
  std::uint64_t hz = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), hz);
  if (error != std::errc{} || hz == 0) return std::nullopt;
  return hz;
}

Result<record::SamplingRate> ParseFrequency(std::string_view option, std::string_view text) {
  if (text == "max") {
    const std::optional<std::uint64_t> highest = HighestFrequency();
    if (highest) return record::Frequency{*highest};
    return BadValue(
        fmt::format("{} max: kernel.perf_event_max_sample_rate cannot be read", option));
  }
  TRY_ASSIGN(const std::uint64_t hz, cli::ParseNumber(option, text, {.smallest = 1}));
  return record::Frequency{hz};
}

std::vector<cli::Offer> EventOffers() {
  std::vector<cli::Offer> offers;
  for (const record::KnownEvent& event : record::KnownEvents()) {
    if (event.type == perfdata::kTypeSoftware) offers.push_back({.word = event.name});
  }
  for (const record::OffCpuName& event : record::OffCpuNames()) {
    offers.push_back({.word = std::string(event.name)});
  }
  for (const record::EventSet& set : record::EventSets()) {
    offers.push_back({.word = std::string(set.name)});
  }
  return offers;
}

Result<std::vector<record::EventSpec>> ParseEventList(std::string_view option,
                                                      std::string_view text) {
  Result<std::vector<record::EventSpec>> events = record::ParseEvents(text);
  if (events) return events;
  return BadValue(fmt::format("{}: {}", option, cli::EscapeForTerminal(events.error().message)));
}

Result<std::vector<std::string>> ParseNames(std::string_view option, std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : cli::SplitAtCommas(text)) {
    if (name.empty())
      return BadValue(fmt::format("{}: empty name in '{}'", option, cli::EscapeForTerminal(text)));
    names.emplace_back(name);
  }
  return names;
}

std::vector<cli::Offer> CallGraphsWithoutCopies() {
  std::vector<cli::Offer> offers;
  for (const auto& method : kMethods) {
    offers.push_back({.word = std::string(method.word), .note = std::string(method.note)});
  }
  return offers;
}

std::vector<cli::Offer> CallGraphs() {
  std::vector<cli::Offer> offers = CallGraphsWithoutCopies();
  offers.push_back({.word = std::string(kStackCopy), .note = std::string(kStackCopyNote)});
  return offers;
}

Result<CallGraph> ParseCallGraph(std::string_view option, std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::string_view size = comma < text.size() ? text.substr(comma + 1) : std::string_view();
  std::string_view name = text.substr(0, comma);
  if (name == kStackCopy) {
    TRY_ASSIGN(const std::uint32_t stack_bytes, ParseStackSize(option, size));
    return CallGraph{record::Callchains::kOnlyKernel, stack_bytes};
  }
  CallGraph graph;
  const bool has_stacks = name.ends_with(kWithStackCopy);
  if (has_stacks) {
    name.remove_suffix(kWithStackCopy.size());
    TRY_ASSIGN(graph.stack_bytes, ParseStackSize(option, size));
  }
  const auto* const method =
      std::ranges::find(kMethods, name, &cli::Choice<record::Callchains>::word);
  if (method != std::end(kMethods) && (has_stacks || comma == std::string_view::npos)) {
    graph.callchains = method->value;
    return graph;
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "{}: method '{}' is not supported: call chains are found by frame pointers (fp), by the "
          "unwind tables of the binaries (eh), from copies of the stack (dwarf), or not (none)",
          option, cli::EscapeForTerminal(text)));
}

Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text) {
  return cli::ParseTimeWith(option, text,
                            {.shortest = std::chrono::nanoseconds(0),
                             .bare_unit = std::chrono::milliseconds(1),
                             .bare_units = "milliseconds"});
}

Result<double> ParseCpuLimit(std::string_view option, std::string_view text) {
  TRY_ASSIGN(const double percent, cli::ParsePercent(option, text));
  if (percent == 0)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: must be above 0", option));
  return percent;
}

}  // namespace perftape::recording
