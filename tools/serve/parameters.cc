// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/parameters.h"

#include <fmt/core.h>

#include <charconv>
#include <utility>

#include "convert/model/label_keys.h"
#include "formats/base/duration.h"
#include "formats/otlp/conventions.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"
#include "tools/serve/channels/record_command.h"

namespace perftape::serve {
namespace {

constexpr std::size_t kMostParameters = 32;

// Parameters that choose samples by a label, with the words of perftape-report --by.
struct LabelParameter {
  std::string_view name, label;
};
constexpr LabelParameter kLabelParameters[] = {{"unit", convert::kUnitLabel},
                                               {"service", otlp::kServiceName}};

std::unexpected<Error> Bad(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

std::unexpected<Error> BadValue(std::string_view name, std::string_view value,
                                std::string_view wanted) {
  return Bad(fmt::format("{}={}: must be {}", name, cli::EscapeForTerminal(value), wanted));
}

std::optional<unsigned> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

enum class Part : std::uint8_t { kPath, kQuery };

// Replaces %20, and + in a query. No text has control characters.
Result<std::string> Decoded(std::string_view text, Part part) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && part == Part::kQuery) {
      c = ' ';
    } else if (c == '%') {
      const auto high = i + 2 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
      const auto low = high ? HexDigit(text[i + 2]) : std::nullopt;
      if (!low) return Bad("the target has a % without two hexadecimal digits");
      c = static_cast<char>(*high << 4 | *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      return Bad("the target has a control character");
    }
    decoded += c;
  }
  return decoded;
}

// "true" and "1", "false" and "0".
Result<bool> ConsumeFlag(Target& target, std::string_view name) {
  const std::optional<std::string> value = target.Consume(name);
  if (!value || *value == "false" || *value == "0") return false;
  if (*value == "true" || *value == "1") return true;
  return BadValue(name, *value, "true or false");
}

// The value of a parameter that is a time in seconds, or has a unit.
Result<std::optional<std::chrono::nanoseconds>> ConsumeSeconds(
    Target& target, std::chrono::seconds longest = kMostSeconds) {
  const std::optional<std::string> value = target.Consume("seconds");
  if (!value) return std::nullopt;
  const auto duration = DurationOf(*value, std::chrono::seconds(1));
  if (!duration || duration->count() <= 0 || *duration > longest) {
    return BadValue("seconds", *value,
                    fmt::format("a number above 0, at most {}", longest.count()));
  }
  return duration;
}

// A time since 1970, in seconds, or a time ago: 5m, -300.
Status ConsumeSince(Target& target, ProfileRequest& request) {
  constexpr std::string_view kWanted = "a Unix time, or how long ago: 5m, 90s, -300";
  const std::optional<std::string> value = target.Consume("since");
  if (!value) return {};
  std::string_view text = *value;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const bool has_unit = !text.empty() && (text.back() < '0' || text.back() > '9');
  const auto time = DurationOf(text, std::chrono::seconds(1));
  if (!time) return BadValue("since", *value, kWanted);
  if (is_negative || has_unit) {
    request.ago = *time;
  } else {
    request.since_ns = time->count();
  }
  return {};
}

Status ConsumeScope(Target& target, ProfileRequest& request) {
  const std::string scope = target.Consume("scope").value_or("");
  const std::string pod_namespace = target.Consume("namespace").value_or("");
  const std::string pod = target.Consume("pod").value_or("");
  if (!scope.empty() && scope != "node" && scope != "pod")
    return BadValue("scope", scope, "node or pod");
  const bool is_pod = scope == "pod" || (scope.empty() && !pod.empty());
  if (is_pod && (pod.empty() || pod_namespace.empty()))
    return Bad("scope=pod needs namespace= and pod=");
  if (!is_pod && (!pod.empty() || !pod_namespace.empty()))
    return Bad("namespace= and pod= need scope=pod");
  if (is_pod) {
    request.conditions = {{std::string(convert::kPodNamespaceLabel), pod_namespace},
                          {std::string(convert::kPodLabel), pod}};
  }
  for (const auto& [name, label] : kLabelParameters) {
    const std::optional<std::string> value = target.Consume(name);
    if (!value) continue;
    if (value->empty()) return BadValue(name, *value, "a name");
    request.conditions.emplace(label, *value);
  }
  return {};
}

Status ConsumeTimes(Target& target, ProfileRequest& request) {
  TRY(ConsumeSince(target, request));
  TRY_ASSIGN(request.seconds, ConsumeSeconds(target));
  return {};
}

Result<std::optional<std::uint32_t>> ConsumeNumber(Target& target, std::string_view name,
                                                   std::uint32_t largest) {
  const std::optional<std::string> value = target.Consume(name);
  if (!value) return std::nullopt;
  std::uint32_t number = 0;
  const char* const text_end = value->data() + value->size();
  const auto [end, error] = std::from_chars(value->data(), text_end, number);
  if (error != std::errc{} || end != text_end || number == 0 || number > largest) {
    return BadValue(name, *value, fmt::format("a number from 1 to {}", largest));
  }
  return number;
}

}  // namespace

Result<Target> Target::Parse(std::string_view text) {
  Target target;
  const std::size_t question = text.find('?');
  TRY_ASSIGN(target.path_, Decoded(text.substr(0, question), Part::kPath));
  if (!target.path_.starts_with('/')) return Bad("the target is not a path");
  if (question == std::string_view::npos) return target;
  std::string_view query = text.substr(question + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    TRY_ASSIGN(std::string name, Decoded(pair.substr(0, equals), Part::kQuery));
    TRY_ASSIGN(std::string value,
               Decoded(pair.substr(std::min(pair.size(), equals + 1)), Part::kQuery));
    const auto [added, is_new] = target.parameters_.try_emplace(std::move(name), std::move(value));
    if (!is_new) return Bad("parameter given twice: " + cli::EscapeForTerminal(added->first));
    if (target.parameters_.size() > kMostParameters) return Bad("too many parameters");
  }
  return target;
}

std::optional<std::string> Target::Consume(std::string_view name) {
  const auto found = parameters_.find(name);
  if (found == parameters_.end()) return std::nullopt;
  std::string value = std::move(found->second);
  parameters_.erase(found);
  return value;
}

Status Target::CheckAllKnown() const {
  if (parameters_.empty()) return {};
  return Bad("unknown parameter: " + cli::EscapeForTerminal(parameters_.begin()->first));
}

Result<ProfileRequest> ParseFlameGraphRequest(Target& target) {
  ProfileRequest request;
  TRY(ConsumeScope(target, request));
  TRY(ConsumeTimes(target, request));
  request.event = target.Consume("event").value_or("");
  TRY_ASSIGN(request.reset, ConsumeFlag(target, "reset"));
  TRY(target.CheckAllKnown());
  if (request.reset && (request.has_since() || request.seconds)) {
    return Bad("reset= applies to all counts: it cannot be combined with since= or seconds=");
  }
  return request;
}

Result<ProfileRequest> ParseCollapsedRequest(Target& target) {
  TRY_ASSIGN(const bool offsets, ConsumeFlag(target, "offsets"));
  TRY_ASSIGN(ProfileRequest request, ParseFlameGraphRequest(target));
  request.offsets = offsets;
  return request;
}

Result<ProfileRequest> ParsePprofRequest(Target& target, std::string_view event) {
  ProfileRequest request;
  request.event = event;
  TRY(ConsumeScope(target, request));
  TRY(ConsumeTimes(target, request));
  // Each answer is of its own time anyhow, and is binary.
  TRY_ASSIGN([[maybe_unused]] const bool delta, ConsumeFlag(target, "delta"));
  const std::optional<std::string> debug = target.Consume("debug");
  if (debug && *debug != "0") return BadValue("debug", *debug, "0");
  if (const std::optional<std::string> labels = target.Consume("labels")) {
    request.labels.emplace();
    for (const std::string_view label : cli::SplitAtCommas(*labels)) {
      if (!label.empty()) request.labels->emplace_back(label);
    }
  }
  TRY(target.CheckAllKnown());
  return request;
}

Result<RecordRequest> ParseRecordRequest(Target& target, RecordParameters which) {
  RecordRequest request;
  TRY_ASSIGN(const std::optional<std::chrono::nanoseconds> seconds,
             ConsumeSeconds(target, kLongestRecording));
  if (!seconds) return Bad("seconds= is missing");
  request.seconds = *seconds;
  if (which == RecordParameters::kProcess) {
    TRY_ASSIGN(request.frequency, ConsumeNumber(target, "frequency", kHighestFrequencyHz));
    TRY_ASSIGN(request.pid, ConsumeNumber(target, "pid", INT32_MAX));
  }
  request.event = target.Consume("event").value_or("");
  TRY(target.CheckAllKnown());
  return request;
}

}  // namespace perftape::serve
