// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "formats/base/duration.h"
#include "formats/perfdata/latency_probes.h"

namespace perftape::record {
namespace {

std::unexpected<Error> Wrong(std::string_view event, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("event '{}': {}", event, what));
}

// Decimal, or hexadecimal after 0x.
std::optional<std::uint64_t> ParseInteger(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
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

Result<FieldCondition> ParseCondition(std::string_view event, std::string_view text) {
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
    const std::optional<std::uint64_t> number = ParseInteger(value);
    if (!number) break;
    condition.value = condition.is_negative ? ~*number + 1 : *number;
    return condition;
  }
  return Wrong(event, fmt::format("'if={}' is not a condition: write if=FIELD==VALUE, with ==, !=, "
                                  "<, <=, >, >= or &",
                                  text));
}

Status ParseLatencyOption(std::string_view key, std::string_view value, EventSpec& spec) {
  if (key == "errors") {
    if (value != "on" && value != "off") {
      return Wrong(spec.text, fmt::format("errors='{}': use errors=on or errors=off", value));
    }
    spec.samples_errors = value == "on";
    return {};
  }
  if (key != "min") {
    return Wrong(spec.text,
                 fmt::format("unknown option '{}': use min=TIME, errors=on or errors=off", key));
  }
  const std::optional<std::chrono::nanoseconds> least = DurationOf(value, {});
  if (!least) {
    return Wrong(spec.text, fmt::format("min='{}' is not a time: write a number and {}, for "
                                        "example min=10ms",
                                        value, kDurationUnits));
  }
  spec.latency_min_ns = static_cast<std::uint64_t>(least->count());
  return {};
}

Status ParseOption(std::string_view option, EventSpec& spec) {
  const std::size_t equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : option.substr(equals + 1);
  if (spec.is_latency()) return ParseLatencyOption(key, value, spec);
  if (key == "if") {
    TRY_ASSIGN(FieldCondition condition, ParseCondition(spec.text, value));
    spec.conditions.push_back(std::move(condition));
    return {};
  }
  if (key != "freq" && key != "period" && key != "every") {
    return Wrong(spec.text, fmt::format("unknown option '{}': use freq=HZ, period=N, every=N or "
                                        "if=FIELD==VALUE",
                                        key));
  }
  const std::optional<std::uint64_t> number = ParseInteger(value);
  if (!number || *number == 0) {
    return Wrong(spec.text, fmt::format("{}='{}' is not a number above 0", key, value));
  }
  if (key == "every") {
    spec.every = *number;
    return {};
  }
  if (spec.rate) return Wrong(spec.text, "freq and period cannot be combined");
  // perf_event_open rejects a period above 2^63 (kernel/events/core.c).
  if (*number > INT64_MAX) return Wrong(spec.text, fmt::format("{} is too large", key));
  if (key == "freq") {
    spec.rate = Frequency{*number};
  } else {
    spec.rate = Period{*number};
  }
  return {};
}

Status ParseOptions(std::string_view options, EventSpec& spec) {
  while (!options.empty()) {
    const std::size_t comma = options.find(',');
    TRY(ParseOption(options.substr(0, comma), spec));
    options.remove_prefix(comma == std::string_view::npos ? options.size() : comma + 1);
  }
  return {};
}

Status ParseModifiers(std::string_view modifiers, EventSpec& spec) {
  const bool user = modifiers.contains('u'), kernel = modifiers.contains('k');
  if (modifiers.empty() || modifiers.find_first_not_of("uk") != std::string_view::npos) {
    return Wrong(spec.text, fmt::format("modifier ':{}' is not supported: use :u (only user code) "
                                        "or :k (only the kernel)",
                                        modifiers));
  }
  if (user != kernel) spec.modes = user ? Modes::kUser : Modes::kKernel;
  return {};
}

// The first letters that perf allows after the colon. A tracepoint's name is longer.
bool LooksLikeModifiers(std::string_view text) {
  return text.find_first_not_of("ukhGHpPSDIWeb") == std::string_view::npos;
}

// PROBE or PROBE/OPTIONS/
Result<EventSpec> ParseProbeEvent(std::string_view text) {
  EventSpec spec{.text = std::string(text)};
  const std::string_view name = text.substr(0, LengthOfProbe(text));
  std::string_view options = text.substr(name.size());
  if (!options.empty()) {
    if (options.size() < 2 || options.back() != '/') {
      return Wrong(text, "the slash after the options is missing");
    }
    options = options.substr(1, options.size() - 2);
  }
  TRY(ParseProbe(name));
  TRY(ParseOptions(options, spec));
  spec.name = std::string(name);
  return spec;
}

Result<EventSpec> ParseEvent(std::string_view text) {
  if (text.empty()) return Wrong(text, "a name is missing");
  if (ProbeKindOf(text)) return ParseProbeEvent(text);
  EventSpec spec{.text = std::string(text)};
  // NAME[:MODIFIERS] or NAME/OPTIONS/[MODIFIERS]
  std::string_view name = text, modifiers;
  bool has_modifiers = false;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::size_t end = text.rfind('/');
    if (end == slash) return Wrong(text, "the slash after the options is missing");
    name = text.substr(0, slash);
    modifiers = text.substr(end + 1);
    if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
    has_modifiers = end + 1 < text.size();
    spec.name = std::string(name);
    TRY(ParseOptions(text.substr(slash + 1, end - slash - 1), spec));
  }
  if (const std::size_t colon = name.rfind(':');
      colon != std::string_view::npos && !has_modifiers) {
    if (LooksLikeModifiers(name.substr(colon + 1))) {
      modifiers = name.substr(colon + 1);
      name = name.substr(0, colon);
      has_modifiers = true;
    }
  }
  if (has_modifiers) TRY(ParseModifiers(modifiers, spec));
  spec.name = std::string(name);
  if (name.empty() || name.starts_with(':') || std::ranges::count(name, ':') > 1) {
    return Wrong(text, "is not an event: write NAME, SUBSYSTEM:NAME or NAME/OPTION=VALUE/");
  }
  return spec;
}

}  // namespace

bool EventSpec::is_latency() const {
  return name == perfdata::kLatencySystem || name.starts_with(perfdata::kLatencyPrefix);
}

std::unexpected<Error> FailEvent(const EventSpec& spec, ErrorCode code, std::string_view what) {
  return FailEvent(spec, {.code = code, .message = std::string(what)});
}

std::unexpected<Error> FailEvent(const EventSpec& spec, Error error) {
  return Fail(InContext(fmt::format("event '{}'", spec.text), std::move(error)));
}

Result<std::vector<EventSpec>> ParseEvents(std::string_view list) {
  std::vector<EventSpec> specs;
  std::size_t start = 0;
  bool is_between_slashes = false;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at == start && ProbeKindOf(list.substr(at))) at += LengthOfProbe(list.substr(at));
    if (at < list.size() && list[at] == '/') is_between_slashes = !is_between_slashes;
    if (at < list.size() && (list[at] != ',' || is_between_slashes)) continue;
    TRY_ASSIGN(EventSpec spec, ParseEvent(list.substr(start, at - start)));
    specs.push_back(std::move(spec));
    start = at + 1;
  }
  return specs;
}

}  // namespace perftape::record
