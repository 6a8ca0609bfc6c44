// SPDX-License-Identifier: Apache-2.0
#include "record/event_control.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "formats/perfdata/flag_text.h"

namespace perftape::record {
namespace {

using perfdata::EventAttr;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Whoever sends more commands without a pause waits, so that the recorder keeps its time for rings.
constexpr std::size_t kMostInARow = 256;
constexpr std::uint64_t kQuietNs = 10'000'000;

std::uint64_t Nanoseconds(milliseconds time) {
  return static_cast<std::uint64_t>(nanoseconds(time).count());
}

// Rounded up, so that it has passed after poll(2).
milliseconds Until(std::uint64_t time_ns, std::uint64_t now_ns) {
  const nanoseconds left(time_ns - std::min(time_ns, now_ns));
  return std::chrono::ceil<milliseconds>(left);
}

// Commands of other processes are shown on terminals.
std::string Printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// As perf evlist -F.
std::string FrequencyOf(const EventAttr& attr) {
  return fmt::format("{}={}", attr.Has(perfdata::kFreq) ? "sample_freq" : "sample_period",
                     attr.sample_period);
}

// The forms of evlist. No event is in a group, so -g changes nothing.
struct ListForm {
  std::string_view option;
  std::string (*details)(const EventAttr& attr);
};
constexpr ListForm kListForms[] = {
    {"", nullptr},
    {"-g", nullptr},
    {"-F", &FrequencyOf},
    {"-v", [](const EventAttr& attr) { return perfdata::AttrText(attr); }},
};

void AddEvent(std::string_view name, const EventAttr& attr, const ListForm& form,
              std::string& text) {
  text += name;
  if (form.details != nullptr) text += ": " + form.details(attr);
  text += '\n';
}

}  // namespace

EventControl::EventControl(const ControlOptions& options, Clock& clock,
                           std::optional<ControlChannel> channel)
    : options_(options), clock_(clock), channel_(std::move(channel)) {
  for (const EnabledRange& range : options.delay.value_or(EnabledRanges())) {
    steps_.push_back({.after_ns = Nanoseconds(range.from), .to = To::kOn});
    if (range.until) steps_.push_back({.after_ns = Nanoseconds(*range.until), .to = To::kOff});
  }
}

Result<EventControl> EventControl::Open(const ControlOptions& options, Clock& clock) {
  std::optional<ControlChannel> channel;
  if (options.channel) {
    TRY_ASSIGN(channel, ControlChannel::Open(*options.channel));
  }
  return EventControl(options, clock, std::move(channel));
}

void EventControl::Start(Recorded recorded, std::uint64_t start_ns) {
  recorded_.emplace(std::move(recorded));
  start_ns_ = start_ns;
  std::vector<std::string> names;
  for (const PlannedEvent& event : recorded_->input.events().sampling()) {
    names.push_back(event.name);
  }
  const std::size_t events = names.size();
  log_.emplace(std::move(names));
  for (std::uint32_t event = 0; event < events; ++event) {
    if (recorded_->input.IsOn(event)) {
      was_ever_on_ = true;
    } else {
      log_->SwitchOff(event, start_ns);
    }
  }
}

Status EventControl::Run() {
  wants_round_ = false;
  for (; next_step_ < steps_.size(); ++next_step_) {
    const Step& step = steps_[next_step_];
    if (clock_.MonotonicNs() < start_ns_ + step.after_ns) break;
    TRY(SwitchAll(step.to));
  }
  if (poll_fd() < 0) return {};
  const std::vector<ControlCommand> commands = channel_->Read();
  for (const ControlCommand& command : commands) {
    TRY(Execute(command));
    channel_->Acknowledge();
  }
  commands_in_a_row_ = commands.empty() ? 0 : commands_in_a_row_ + commands.size();
  if (channel_->has_more() || commands_in_a_row_ >= kMostInARow) {
    commands_in_a_row_ = 0;
    quiet_until_ns_ = clock_.MonotonicNs() + kQuietNs;
  }
  return {};
}

int EventControl::poll_fd() const {
  return channel_ && clock_.MonotonicNs() >= quiet_until_ns_ ? channel_->poll_fd() : -1;
}

milliseconds EventControl::Timeout(milliseconds longest) const {
  const std::uint64_t now_ns = clock_.MonotonicNs();
  milliseconds timeout = longest;
  if (next_step_ < steps_.size()) {
    timeout = std::min(timeout, Until(start_ns_ + steps_[next_step_].after_ns, now_ns));
  }
  if (quiet_until_ns_ > now_ns) timeout = std::min(timeout, Until(quiet_until_ns_, now_ns));
  return timeout;
}

// A pause is the time in which the event was off for certain.
Status EventControl::Switch(std::span<const std::uint32_t> events, To to) {
  RecordInput& input = recorded_->input;
  const std::uint64_t before_ns = clock_.MonotonicNs();
  for (const std::uint32_t event : events) {
    TRY(to == To::kOn ? input.SwitchOn(event) : input.SwitchOff(event));
  }
  if (to == To::kOff) {
    // The sums of fast calls are samples of the time in which their events were on.
    TRY(input.DrainLatency());
    input.SumUpFastCalls(clock_.MonotonicNs());
  }
  const std::uint64_t after_ns = clock_.MonotonicNs();
  // All waits are switched with one of them.
  for (std::uint32_t event = 0; event < input.events().sampling().size(); ++event) {
    if (input.IsOn(event) == log_->IsOn(event)) continue;
    if (to == To::kOn) {
      log_->SwitchOn(event, before_ns);
      recorded_->losses.OpenTimer(event, after_ns);
      was_ever_on_ = true;
    } else {
      recorded_->losses.CloseTimer(input, event, before_ns);
      log_->SwitchOff(event, after_ns);
    }
  }
  return {};
}

Status EventControl::SwitchAll(To to) {
  std::vector<std::uint32_t> all(recorded_->input.events().sampling().size());
  std::iota(all.begin(), all.end(), 0);
  return Switch(all, to);
}

Status EventControl::SwitchNamed(const ControlCommand& command, To to) {
  if (command.argument.empty()) return SwitchAll(to);
  const std::span<const PlannedEvent> events = recorded_->input.events().sampling();
  const auto event = std::ranges::find(events, command.argument, &PlannedEvent::name);
  if (event == events.end()) {
    CountFailure("no event is called '" + command.argument + "'");
    return {};
  }
  const auto number = static_cast<std::uint32_t>(std::distance(events.begin(), event));
  return Switch(std::span(&number, 1), to);
}

Status EventControl::Execute(const ControlCommand& command) {
  switch (command.verb) {
    case ControlVerb::kEnable:
      return SwitchNamed(command, To::kOn);
    case ControlVerb::kDisable:
      return SwitchNamed(command, To::kOff);
    case ControlVerb::kListEvents:
      ListEvents(command);
      break;
    case ControlVerb::kSnapshot:
      if (recorded_->request_file("snapshot")) {
        wants_round_ = true;
      } else {
        CountFailure("'snapshot' writes the last seconds, which only --flight TIME keeps");
      }
      break;
    case ControlVerb::kStop:
      is_stop_requested_ = true;
      wants_round_ = true;
      break;
    case ControlVerb::kPing:
      break;
  }
  return {};
}

void EventControl::ListEvents(const ControlCommand& command) {
  const auto form = std::ranges::find(kListForms, command.argument, &ListForm::option);
  if (form == std::end(kListForms)) {
    CountFailure("'evlist' takes -v, -F or -g, not '" + command.argument + "'");
    return;
  }
  if (!options_.print) return;
  std::string text;
  for (const perfdata::Event& event : recorded_->input.events().AttributeTable()) {
    AddEvent(event.name, event.attr, *form, text);
  }
  options_.print(text);
}

void EventControl::CountFailure(std::string why) {
  if (failures_++ == 0) first_failure_ = Printable(std::move(why));
}

std::vector<bundle::NotedPauses> EventControl::Pauses(std::uint64_t end_ns) const {
  return log_ ? log_->Noted(end_ns) : std::vector<bundle::NotedPauses>();
}

std::vector<std::string> EventControl::Warnings() const {
  std::vector<std::string> warnings;
  if (failures_ > 0) {
    warnings.push_back(fmt::format("--control: commands failed: {}; the first one: {}", failures_,
                                   first_failure_));
  }
  const ControlFailures channel = channel_ ? channel_->failures() : ControlFailures();
  if (channel.unknown > 0) {
    warnings.push_back(fmt::format("--control: unknown commands: {}; the first one: '{}'",
                                   channel.unknown, Printable(channel.first_unknown)));
  }
  if (channel.unanswered > 0) {
    warnings.push_back(fmt::format("--control: {} answers were not sent, because nobody read them",
                                   channel.unanswered));
  }
  if (channel.is_closed) {
    warnings.emplace_back("--control: the other side closed the descriptor for commands");
  }
  if (log_ && !was_ever_on_) {
    warnings.emplace_back("no event was ever switched on, so there are no samples");
  }
  return warnings;
}

}  // namespace perftape::record
