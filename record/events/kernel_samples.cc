// SPDX-License-Identifier: Apache-2.0
#include "record/events/kernel_samples.h"

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

std::string_view WhyNotByKernel(const EventSet& set, Sampler sampler);

// Returns why the kernel makes no samples of the event for a user without privileges; empty if it
// does.
std::string_view WhyNotForUsers(const EventSpec& spec) {
  if (spec.is_tracepoint()) return "a tracepoint needs eBPF";
  if (spec.only_kernel_code()) return "kernel code cannot be recorded without privileges";
  const std::optional<KnownEvent> known = FindKnownEvent(spec.name);
  return known && known->only_in_kernel
             ? "it happens in kernel code, which cannot be recorded without privileges"
             : "";
}

// Returns why the kernel makes no samples of the event; empty if it does.
std::string_view WhyNotByKernel(const EventSpec& spec, Sampler sampler) {
  if (spec.is_latency()) return "a latency probe needs eBPF";
  if (spec.is_probe()) return "a probe needs eBPF";
  if (IsOffCpuName(spec.name)) return "off-CPU time needs eBPF";
  if (!spec.conditions.empty()) return "a condition needs eBPF";
  if (const EventSet* set = FindEventSet(spec.name)) return WhyNotByKernel(*set, sampler);
  return sampler == Sampler::kKernelForUser ? WhyNotForUsers(spec) : "";
}

std::string_view WhyNotByKernel(const EventSet& set, Sampler sampler) {
  if (set.program != nullptr) return "it needs eBPF";
  const Result<std::vector<EventSpec>> members = ParseEvents(set.events);
  if (!members) return "";
  for (const EventSpec& member : *members) {
    const std::string_view reason = WhyNotByKernel(member, sampler);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace

Status CheckKernelEvent(const EventSpec& spec, Sampler sampler, std::string_view remedy) {
  const std::string_view reason = WhyNotByKernel(spec, sampler);
  if (reason.empty()) return {};
  return FailEvent(spec, ErrorCode::kPermission, fmt::format("{}: {}", reason, remedy));
}

Status CheckUserEvents(const EventMachine& machine, const SystemFacts& facts) {
  const perfdata::EventAttr clock = AttrOfUserCode(
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{1}));
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

EventMachine MachineOf(Sampler sampler, std::string remedy) {
  EventMachine machine = EventMachine::This();
  machine.check_event = [sampler, remedy = std::move(remedy)](const EventSpec& spec) {
    return CheckKernelEvent(spec, sampler, remedy);
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

void PlanForKernel(Sampler sampler, Callchains callchains, std::span<PlannedEvent> events) {
  for (PlannedEvent& event : events) {
    event.settings.period_ns = 0;  // no program counts the expiries of a timer
    perfdata::EventAttr& attr = event.attr;
    if (sampler == Sampler::kKernelForUser) attr = AttrOfUserCode(attr);
    if (sampler == Sampler::kKernelForUser || callchains == Callchains::kNone) {
      attr.flags |= perfdata::kExcludeCallchainKernel;
    }
    if (callchains == Callchains::kFramePointers) {
      attr.flags &= ~static_cast<std::uint64_t>(perfdata::kExcludeCallchainUser);
    } else {
      attr.flags |= perfdata::kExcludeCallchainUser;
    }
  }
}

void PlanForThreads(const RecordedThreads& threads, std::span<PlannedEvent> events) {
  for (PlannedEvent& event : events) {
    event.attr = AttrForThreads(event.attr, threads.inherit);
    event.leader.reset();  // groups are opened on CPUs only
    event.attr.flags |= perfdata::kDisabled;
    if (threads.from_exec) event.attr.flags |= perfdata::kEnableOnExec;
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
