// SPDX-License-Identifier: Apache-2.0
#include "record/events/user_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "record/events/event_attrs.h"
#include "record/events/known_events.h"
#include "record/events/recorded_events.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

std::string_view WhyNotForUsers(const EventSet& set);

// Returns why the kernel makes no samples of the event for a user; empty if it does.
std::string_view WhyNotForUsers(const EventSpec& spec) {
  if (spec.is_latency()) return "a latency probe needs eBPF";
  if (spec.is_probe()) return "a probe needs eBPF";
  if (spec.is_tracepoint()) return "a tracepoint needs eBPF";
  if (IsOffCpuName(spec.name)) return "off-CPU time needs eBPF";
  if (spec.only_kernel_code()) return "kernel code cannot be recorded without privileges";
  if (const EventSet* set = FindEventSet(spec.name)) return WhyNotForUsers(*set);
  const std::optional<KnownEvent> known = FindKnownEvent(spec.name);
  return known && known->only_in_kernel
             ? "it happens in kernel code, which cannot be recorded without privileges"
             : "";
}

std::string_view WhyNotForUsers(const EventSet& set) {
  const Result<std::vector<EventSpec>> members = ParseEvents(set.events);
  if (!members) return "";
  for (const EventSpec& member : *members) {
    const std::string_view reason = WhyNotForUsers(member);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace

Status CheckUserEvent(const EventSpec& spec, std::string_view remedy) {
  const std::string_view reason = WhyNotForUsers(spec);
  if (reason.empty()) return {};
  return FailEvent(spec, ErrorCode::kPermission, fmt::format("{}: {}", reason, remedy));
}

Status CheckUserEvents(const EventMachine& machine, const SystemFacts& facts) {
  const perfdata::EventAttr clock = AttrForThreads(
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{1}),
      Inherit::kNo);
  Status opened = machine.try_to_open(clock);
  if (opened || opened.error().code != ErrorCode::kPermission) return opened;
  constexpr int kMostForUsers = 2;
  std::vector<Finding> causes;
  if (const int paranoid = facts.perf_paranoid.value_or(0); paranoid > kMostForUsers) {
    causes.push_back(Missing(Requirement::kUserEvents, {std::to_string(paranoid)}));
  }
  if (facts.has_system_call_filter) {
    causes.push_back(Missing(Requirement::kSystemCallFilter));
  }
  if (causes.empty()) return opened;
  return FailMissing(ErrorCode::kPermission, "", std::move(causes));
}

EventMachine UserMachine() {
  EventMachine machine = EventMachine::This();
  const std::optional<Finding> why = WhyNoPrograms(ReadSystemFacts());
  machine.check_event = [remedy = why ? why->text() : "use root"](const EventSpec& spec) {
    return CheckUserEvent(spec, remedy);
  };
  return machine;
}

std::vector<EventSpec> InUserCode(std::span<const EventSpec> specs) {
  std::vector<EventSpec> in_user_code(specs.begin(), specs.end());
  if (specs.empty()) in_user_code.push_back(DefaultEvent());
  for (EventSpec& spec : in_user_code) {
    if (spec.only_user_code() || spec.only_kernel_code()) continue;
    std::erase(spec.modifiers, 'k');
    std::erase(spec.group_modifiers, 'k');
    if (!spec.modifiers.contains('u')) spec.modifiers += 'u';
  }
  return in_user_code;
}

void PlanForThreads(const RecordedThreads& threads, Callchains callchains,
                    std::span<PlannedEvent> events) {
  for (PlannedEvent& event : events) {
    perfdata::EventAttr& attr = event.attr;
    attr = AttrForThreads(attr, threads.inherit);
    event.leader.reset();  // groups are opened on CPUs only
    attr.flags |= perfdata::kDisabled;
    if (threads.from_exec) attr.flags |= perfdata::kEnableOnExec;
    attr.flags |= perfdata::kExcludeCallchainKernel;
    if (callchains == Callchains::kFramePointers) {
      attr.flags &= ~static_cast<std::uint64_t>(perfdata::kExcludeCallchainUser);
    } else {
      attr.flags |= perfdata::kExcludeCallchainUser;
    }
  }
}

bool KernelSamples::CountLost(std::uint32_t cpu, std::uint64_t records) {
  lost_.resize(std::max<std::size_t>(lost_.size(), cpu + std::size_t{1}));
  lost_[cpu].ring_full += records;
  return true;
}

std::vector<wire_cpu> KernelSamples::Counters(std::uint32_t event) const {
  return event == kFirstEvent ? lost_ : std::vector<wire_cpu>();
}

}  // namespace perftape::record
