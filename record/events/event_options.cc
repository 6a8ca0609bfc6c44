// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "formats/base/duration.h"
#include "record/events/event_number.h"
#include "record/events/known_events.h"

namespace perftape::record {
namespace {

std::unexpected<Error> Wrong(const EventSpec& spec, std::string_view what) {
  return FailEvent(spec, ErrorCode::kInvalidArgument, what);
}

// Whether the text can be a name that a tracepoint prints for a value.
bool IsName(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::ranges::all_of(text, [](char character) {
    return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
  });
}

// The longer operators first.
constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"==", Comparison::kEqual},   {"!=", Comparison::kNotEqual}, {"<=", Comparison::kAtMost},
    {">=", Comparison::kAtLeast}, {"<", Comparison::kLess},      {">", Comparison::kGreater},
    {"&", Comparison::kAnyBit},
};

Result<FieldCondition> ParseCondition(const EventSpec& spec, std::string_view text) {
  for (const auto& [symbol, comparison] : kComparisons) {
    const std::size_t at = text.find(symbol);
    if (at == std::string_view::npos) continue;
    FieldCondition condition{.field = std::string(text.substr(0, at)), .comparison = comparison};
    std::string_view value = text.substr(at + symbol.size());
    if (condition.field.empty()) break;
    if (IsName(value)) {
      condition.value_name = value;
      return condition;
    }
    condition.is_negative = value.starts_with('-');
    if (condition.is_negative) value.remove_prefix(1);
    const std::optional<std::uint64_t> number = ParseEventNumber(value);
    if (!number) break;
    condition.value = condition.is_negative ? ~*number + 1 : *number;
    return condition;
  }
  return Wrong(spec, fmt::format("'if={}' is not a condition: write if=FIELD==VALUE, with ==, !=, "
                                 "<, <=, >, >= or &",
                                 text));
}

Status ParseLatencyOption(std::string_view key, std::string_view value, EventSpec& spec) {
  if (key == "errors") {
    if (value != "on" && value != "off") {
      return Wrong(spec, fmt::format("errors='{}': use errors=on or errors=off", value));
    }
    spec.samples_errors = value == "on";
    return {};
  }
  if (key != "min") {
    return Wrong(spec,
                 fmt::format("unknown option '{}': use min=TIME, errors=on or errors=off", key));
  }
  const std::optional<std::chrono::nanoseconds> least = DurationOf(value, {});
  if (!least) {
    return Wrong(spec, fmt::format("min='{}' is not a time: write a number and {}, for "
                                   "example min=10ms",
                                   value, kDurationUnits));
  }
  spec.latency_min_ns = static_cast<std::uint64_t>(least->count());
  return {};
}

// An option of perf for all PMUs (tools/perf/util/parse-events.l) that changes nothing here, or
// that one event of a recording cannot have.
struct PerfOption {
  std::string_view key;
  std::string_view accepted;  // the value with which it changes nothing; kAny, kNone
  std::string_view instead;   // of other values
};
constexpr std::string_view kAny = "*", kNone = "-";
constexpr std::string_view kAux = "AUX areas are not recorded";
constexpr PerfOption kPerfOptions[] = {
    {"time", "1", "records are in the order of their time, so each sample has it"},
    {"inherit", kAny, ""},
    {"no-inherit", kNone,
     "all events are recorded in what a process starts: use -t TID to record single threads"},
    {"no-overwrite", kAny, ""},
    {"overwrite", kNone, "use --flight, which keeps the last seconds of all events"},
    {"percore", kAny, ""},
    {"metric-id", kAny, ""},
    {"call-graph", kNone, "all events have the same call chains: use --call-graph METHOD"},
    {"stack-size", kNone, "all events have the same stack copies: use --call-graph dwarf,BYTES"},
    {"max-stack", kNone,
     "all events have call chains of the same length: kernel.perf_event_max_stack limits it"},
    {"nr", kNone, kAux},
    {"aux-output", kNone, kAux},
    {"aux-sample-size", kNone, kAux},
};

Status CheckPerfOption(const PerfOption& option, std::string_view value, const EventSpec& spec) {
  if (option.accepted == kAny || option.accepted == value) return {};
  return Wrong(spec, fmt::format("{}= is not supported: {}", option.key, option.instead));
}

Status ParseRate(std::string_view key, std::uint64_t number, EventSpec& spec) {
  if (spec.rate) return Wrong(spec, "freq and period cannot be combined");
  // perf_event_open rejects a period above 2^63 (kernel/events/core.c).
  if (number > INT64_MAX) return Wrong(spec, fmt::format("{} is too large", key));
  if (key == "freq") {
    spec.rate = Frequency{number};
  } else {
    spec.rate = Period{number};
  }
  return {};
}

bool MayBePmu(const EventSpec& spec) {
  return !spec.name.contains(':') && !FindKnownEvent(spec.name) &&
         FindEventSet(spec.name) == nullptr && !IsOffCpuName(spec.name);
}

Status ParsePmuTerm(std::string_view key, std::optional<std::string_view> value, EventSpec& spec) {
  if (!MayBePmu(spec)) {
    return Wrong(spec, fmt::format("unknown option '{}': use freq=HZ, period=N, every=N or "
                                   "if=FIELD==VALUE",
                                   key));
  }
  PmuTerm term{.key = std::string(key)};
  if (value) {
    term.value = ParseEventNumber(*value);
    if (!term.value) return Wrong(spec, fmt::format("{}='{}' is not a number", key, *value));
  }
  spec.pmu_terms.push_back(std::move(term));
  return {};
}

Status ParseName(std::string_view value, EventSpec& spec) {
  constexpr std::size_t kLongest = 255;
  const bool is_printable = std::ranges::all_of(
      value, [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
  if (value.empty() || value.size() > kLongest || !is_printable) {
    return Wrong(spec, "name= must be 1 to 255 printable characters");
  }
  spec.name_in_file = std::string(value);
  return {};
}

Status ParseOption(std::string_view option, EventSpec& spec) {
  const std::size_t equals = option.find('=');
  const bool has_value = equals != std::string_view::npos;
  const std::string_view key = option.substr(0, equals);
  const std::string_view value = has_value ? option.substr(equals + 1) : std::string_view();
  if (spec.is_latency()) return ParseLatencyOption(key, value, spec);
  if (key == "if") {
    TRY_ASSIGN(FieldCondition condition, ParseCondition(spec, value));
    spec.conditions.push_back(std::move(condition));
    return {};
  }
  if (key == "name") return ParseName(value, spec);
  const auto* const perf_option = std::ranges::find(kPerfOptions, key, &PerfOption::key);
  if (perf_option != std::end(kPerfOptions)) return CheckPerfOption(*perf_option, value, spec);
  if (key != "freq" && key != "period" && key != "every") {
    return ParsePmuTerm(key, has_value ? std::optional(value) : std::nullopt, spec);
  }
  const std::optional<std::uint64_t> number = ParseEventNumber(value);
  if (!number || *number == 0) {
    return Wrong(spec, fmt::format("{}='{}' is not a number above 0", key, value));
  }
  if (key != "every") return ParseRate(key, *number, spec);
  spec.every = *number;
  return {};
}

}  // namespace

Status ParseEventOptions(std::string_view options, EventSpec& spec) {
  while (!options.empty()) {
    const std::size_t comma = options.find(',');
    TRY(ParseOption(options.substr(0, comma), spec));
    options.remove_prefix(comma == std::string_view::npos ? options.size() : comma + 1);
  }
  return {};
}

}  // namespace perftape::record
