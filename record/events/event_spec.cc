// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "formats/perfdata/event_modifiers.h"
#include "formats/perfdata/latency_probes.h"
#include "record/events/event_options.h"

namespace perftape::record {
namespace {

std::unexpected<Error> Wrong(std::string_view event, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("event '{}': {}", event, what));
}

Status CheckModifiers(std::string_view event, std::string_view modifiers) {
  if (perfdata::AreValidModifiers(modifiers)) return {};
  return Wrong(event,
               fmt::format("bad modifier ':{}': use letters of u k h H G p P S D I W e, each "
                           "once, and up to three p",
                           modifiers));
}

Status ParseModifiers(std::string_view modifiers, EventSpec& spec) {
  TRY(CheckModifiers(spec.text, modifiers));
  if (modifiers.contains('b')) {
    return Wrong(spec.text, "the modifier b is for perf stat, which counts by BPF programs");
  }
  spec.modifiers = std::string(modifiers);
  return {};
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
  TRY(ParseEventOptions(options, spec));
  spec.name = std::string(name);
  return spec;
}

// mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]
Result<EventSpec> ParseBreakpointEvent(std::string_view text) {
  EventSpec spec{.text = std::string(text)};
  std::string_view name = text;
  const std::size_t colon = name.rfind(':');
  const bool has_access_too = std::ranges::count(name, ':') > 2;
  const bool is_access = name.find_first_not_of("rwx", colon + 1) == std::string_view::npos;
  if (has_access_too || (std::ranges::count(name, ':') == 2 && !is_access)) {
    if (perfdata::AreModifiers(name.substr(colon + 1))) {
      TRY(ParseModifiers(name.substr(colon + 1), spec));
      name = name.substr(0, colon);
    }
  }
  Result<Breakpoint> breakpoint = ParseBreakpoint(name);
  if (!breakpoint) return FailEvent(spec, std::move(breakpoint).error());
  spec.breakpoint = *breakpoint;
  spec.name = std::string(name);
  return spec;
}

Result<EventSpec> ParseEvent(std::string_view text) {
  if (text.empty()) return Wrong(text, "a name is missing");
  if (ProbeKindOf(text)) return ParseProbeEvent(text);
  if (IsBreakpoint(text)) return ParseBreakpointEvent(text);
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
    TRY(ParseEventOptions(text.substr(slash + 1, end - slash - 1), spec));
  }
  const std::string_view plain = perfdata::WithoutModifiers(name);
  if (!has_modifiers && plain.size() < name.size()) {
    modifiers = name.substr(plain.size() + 1);
    name = plain;
    has_modifiers = true;
  }
  if (has_modifiers) TRY(ParseModifiers(modifiers, spec));
  spec.name = std::string(name);
  if (name.empty() || name.starts_with(':') || std::ranges::count(name, ':') > 1 ||
      name.find_first_of("{}") != std::string_view::npos) {
    return Wrong(text, "is not an event: write NAME, SUBSYSTEM:NAME or NAME/OPTION=VALUE/");
  }
  return spec;
}

// Returns the attribute that the modifiers alone make.
perfdata::EventAttr ModifiedAttr(const EventSpec& spec) {
  perfdata::EventAttr attr;
  ApplyModifiers(spec, attr);
  return attr;
}

// Splits a list into its events.
class ListParser {
 public:
  explicit ListParser(std::string_view list) : list_(list) {}

  Result<std::vector<EventSpec>> Parse() {
    for (;;) {
      if (const std::size_t brace = BraceOfGroup(); brace != std::string_view::npos) {
        TRY(ParseGroup(brace));
      } else {
        TRY(ParseOne(EndOfEvent(",")));
      }
      if (at_ == list_.size()) return std::move(specs_);
      ++at_;  // the comma
    }
  }

 private:
  // Returns where the brace of "{" or "NAME{" is, if a group begins here.
  std::size_t BraceOfGroup() const {
    const std::size_t end = list_.find_first_of("{},/:*", at_);
    return end != std::string_view::npos && list_[end] == '{' ? end : std::string_view::npos;
  }

  // Returns the end of the event that begins here: the next of `ends` outside of slashes.
  std::size_t EndOfEvent(std::string_view ends) const {
    std::size_t end = at_;
    if (IsBreakpoint(list_.substr(at_)))
      return std::min(list_.find_first_of(ends, at_), list_.size());
    if (ProbeKindOf(list_.substr(at_))) end += LengthOfProbe(list_.substr(at_));
    for (bool is_between_slashes = false; end < list_.size(); ++end) {
      if (list_[end] == '/') is_between_slashes = !is_between_slashes;
      if (!is_between_slashes && ends.contains(list_[end])) break;
    }
    return end;
  }

  Status ParseOne(std::size_t end) {
    TRY_ASSIGN(EventSpec spec, ParseEvent(list_.substr(at_, end - at_)));
    specs_.push_back(std::move(spec));
    at_ = end;
    return {};
  }

  // [NAME]{EVENT,...}[:MODIFIERS]
  Status ParseGroup(std::size_t brace) {
    const std::size_t begin = at_, first = specs_.size();
    const auto failed = [&](std::string_view what) {
      return Wrong(list_.substr(begin, list_.find('}', begin) - begin + 1), what);
    };
    at_ = brace;
    do {
      ++at_;
      if (BraceOfGroup() != std::string_view::npos) return failed("a group within a group");
      TRY(ParseOne(EndOfEvent(",}")));
      if (at_ == list_.size()) return failed("the brace } is missing");
    } while (list_[at_] == ',');
    ++at_;
    const std::size_t end = std::min(list_.find(',', at_), list_.size());
    std::string_view modifiers = list_.substr(at_, end - at_);
    if (!modifiers.empty() && !modifiers.starts_with(':')) {
      return failed("a comma is missing after the group");
    }
    if (!modifiers.empty()) {
      modifiers.remove_prefix(1);
      TRY(CheckModifiers(list_.substr(begin, end - begin), modifiers));
    }
    at_ = end;
    return AddToGroup(std::span(specs_).subspan(first), list_.substr(begin, brace - begin),
                      modifiers);
  }

  Status AddToGroup(std::span<EventSpec> members, std::string_view name,
                    std::string_view modifiers) {
    for (EventSpec& member : members) {
      member.group = &member == members.data() ? GroupRole::kFirst : GroupRole::kOther;
      member.group_name = std::string(name);
      member.group_modifiers = std::string(modifiers);
      const std::string all = member.modifiers + member.group_modifiers;
      if (static_cast<std::size_t>(std::ranges::count(all, 'p')) > perfdata::kMostPrecise) {
        return Wrong(member.text, "has more than three modifiers p, with those of its group");
      }
    }
    return {};
  }

  std::string_view list_;
  std::size_t at_ = 0;
  std::vector<EventSpec> specs_;
};

}  // namespace

bool EventSpec::is_latency() const {
  return name == perfdata::kLatencySystem || name.starts_with(perfdata::kLatencyPrefix);
}

bool EventSpec::only_user_code() const {
  return ModifiedAttr(*this).Has(perfdata::kExcludeKernel);
}

bool EventSpec::only_kernel_code() const {
  const perfdata::EventAttr attr = ModifiedAttr(*this);
  return attr.Has(perfdata::kExcludeUser) && !attr.Has(perfdata::kExcludeKernel);
}

void ApplyModifiers(const EventSpec& spec, perfdata::EventAttr& attr) {
  perfdata::ApplyModifiers(spec.modifiers, attr);
  perfdata::ApplyGroupModifiers(spec.group_modifiers, attr);
}

std::unexpected<Error> FailEvent(const EventSpec& spec, ErrorCode code, std::string_view what) {
  return FailEvent(spec, {.code = code, .message = std::string(what)});
}

std::unexpected<Error> FailEvent(const EventSpec& spec, Error error) {
  return Fail(InContext(fmt::format("event '{}'", spec.text), std::move(error)));
}

Result<std::vector<EventSpec>> ParseEvents(std::string_view list) {
  return ListParser(list).Parse();
}

}  // namespace perftape::record
