// SPDX-License-Identifier: Apache-2.0
#include "record/events/pmu_counters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "formats/base/text.h"
#include "formats/perfdata/kernel_events.h"
#include "record/events/known_events.h"
#include "record/machine/did_you_mean.h"

namespace perftape::record {
namespace {

// On a hybrid machine, the upper half of config has the type of the PMU of an event that the kernel
// numbers (PERF_PMU_TYPE_SHIFT of perf_event.h). A raw event has its type itself.
constexpr unsigned kPmuTypeShift = 32;

Counter OnCore(const Counter& counter, const Pmu& pmu) {
  Counter on_core = counter;
  on_core.name = fmt::format("{}/{}/", pmu.name, counter.name);
  on_core.cpus = pmu.cpus;
  if (counter.attr.type == perfdata::kTypeRaw) {
    on_core.attr.type = pmu.type;
  } else {
    on_core.attr.config |= std::uint64_t{pmu.type} << kPmuTypeShift;
  }
  return on_core;
}

// PMUs whose events have a syntax of their own.
constexpr std::pair<std::string_view, std::string_view> kOtherSyntax[] = {
    {"tracepoint", "SUBSYSTEM:NAME"},
    {"breakpoint", "mem:ADDRESS/LENGTH:ACCESS"},
    {"kprobe", "kprobe:FUNCTION"},
    {"uprobe", "uprobe:PATH:FUNCTION"},
};

// Reads PMU/TERM=VALUE,.../ with the files of sysfs.
class PmuPlanner {
 public:
  PmuPlanner(const EventSpec& spec, Pmu pmu, const Pmus& pmus)
      : spec_(spec), pmu_(std::move(pmu)), pmus_(pmus), events_(pmus.EventsOf(pmu_)) {}

  Result<Counter> Plan() const {
    for (const auto& [name, syntax] : kOtherSyntax) {
      if (pmu_.name != name) continue;
      return FailEvent(spec_, ErrorCode::kInvalidArgument,
                       fmt::format("write {} for an event of the PMU {}", syntax, name));
    }
    Counter counter{.name = spec_.text.substr(0, spec_.text.rfind('/') + 1), .cpus = pmu_.cpus};
    if (pmu_.name != spec_.name) counter.name.replace(0, spec_.name.size(), pmu_.name);
    counter.attr.type = pmu_.type;
    for (const PmuTerm& term : spec_.pmu_terms) TRY(AddTermOrEvent(term, counter.attr));
    const perfdata::KernelEvent* const known =
        perfdata::FindKernelEvent(counter.attr.type, counter.attr.config);
    if (known != nullptr) {
      if (const auto event = FindKnownEvent(known->name)) counter.cause = event->cause;
    }
    return counter;
  }

  // Returns the event that the PMU has under this name.
  Result<Counter> PlanNamed(const std::string& event) const {
    Counter counter{.name = event, .cpus = pmu_.cpus};
    if (pmu_.is_hybrid_core) counter.name = fmt::format("{}/{}/", pmu_.name, event);
    counter.attr.type = pmu_.type;
    TRY(AddTermOrEvent({.key = event}, counter.attr));
    return counter;
  }

  bool HasEvent(std::string_view name) const { return std::ranges::binary_search(events_, name); }

 private:
  // The terms of an event come first, so that those of the user can change them.
  Status AddTermOrEvent(const PmuTerm& term, perfdata::EventAttr& attr) const {
    if (term.value || !HasEvent(term.key)) return AddTerm(term, attr);
    TRY_ASSIGN(const std::vector<PmuTerm> terms, pmus_.ReadEvent(pmu_, term.key));
    for (const PmuTerm& each : terms) {
      if (each.value) {
        TRY(AddTerm(each, attr));
      } else if (std::ranges::find(spec_.pmu_terms, each.key, &PmuTerm::key) ==
                 spec_.pmu_terms.end()) {
        return FailEvent(spec_, ErrorCode::kInvalidArgument,
                         fmt::format("{} needs {}=VALUE", term.key, each.key));
      }
    }
    return {};
  }

  Status AddTerm(const PmuTerm& term, perfdata::EventAttr& attr) const {
    TRY_ASSIGN(const std::optional<PmuFormat> format, pmus_.FindFormat(pmu_, term.key));
    if (!format) return FailEvent(spec_, ErrorCode::kInvalidArgument, UnknownTerm(term));
    if (Status stored = Store(term.value.value_or(1), *format, attr); !stored) {
      return FailEvent(spec_, InContext(term.key, std::move(stored).error()));
    }
    return {};
  }

  std::string UnknownTerm(const PmuTerm& term) const {
    std::vector<std::string> names = pmus_.FormatsOf(pmu_);
    std::string text = fmt::format("the PMU {} has no term '{}': its terms are {}", pmu_.name,
                                   term.key, Joined(names, ", "));
    if (names.empty())
      text = fmt::format("the PMU {} has no term '{}': use config=N", pmu_.name, term.key);
    if (term.value) return text;
    std::ranges::copy(events_, std::back_inserter(names));
    if (const std::string similar = DidYouMean(term.key, names); !similar.empty()) {
      return text + similar;
    }
    const std::string instead = InsteadOfVendorName(term.key);
    return instead.empty() ? text : text + "; " + instead;
  }

  const EventSpec& spec_;
  Pmu pmu_;
  const Pmus& pmus_;
  std::vector<std::string> events_;
};

// Whether the events of the PMU have names without the PMU, as in perf.
bool IsOfCores(const Pmu& pmu) {
  return pmu.name == "cpu" || pmu.is_hybrid_core || pmu.name.starts_with("armv");
}

}  // namespace

Result<std::vector<Counter>> OnEachKindOfCore(const Counter& counter, const Pmus& pmus) {
  TRY_ASSIGN(const std::vector<Pmu> cores, pmus.HybridCores());
  if (cores.empty()) return std::vector{counter};
  std::vector<Counter> counters;
  for (const Pmu& core : cores) counters.push_back(OnCore(counter, core));
  return counters;
}

Result<std::vector<Counter>> EventsOfCores(const EventSpec& spec, const Pmus& pmus) {
  std::vector<Counter> counters;
  for (const std::string& name : pmus.Names()) {
    if (!name.starts_with("cpu") && !name.starts_with("armv")) continue;
    TRY_ASSIGN(Pmu pmu, pmus.Read(name));
    if (!IsOfCores(pmu)) continue;
    const PmuPlanner planner(spec, std::move(pmu), pmus);
    if (!planner.HasEvent(spec.name)) continue;
    TRY_ASSIGN(Counter counter, planner.PlanNamed(spec.name));
    counters.push_back(std::move(counter));
  }
  return counters;
}

Result<std::vector<Counter>> EventsOfPmus(const EventSpec& spec, const Pmus& pmus) {
  std::vector<Counter> counters;
  for (const std::string& name : pmus.Matching(spec.name)) {
    TRY_ASSIGN(Pmu pmu, pmus.Read(name));
    TRY_ASSIGN(Counter counter, PmuPlanner(spec, std::move(pmu), pmus).Plan());
    counters.push_back(std::move(counter));
  }
  if (counters.empty() && !spec.pmu_terms.empty()) {
    return FailEvent(spec, ErrorCode::kNotFound,
                     fmt::format("this machine has no PMU '{}'{}", spec.name,
                                 DidYouMean(spec.name, pmus.Names())));
  }
  return counters;
}

std::string InsteadOfVendorName(std::string_view name) {
  const bool is_like_one =
      name.find_first_of("._") != std::string_view::npos && std::ranges::all_of(name, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
      });
  if (!is_like_one) return "";
  return fmt::format(
      "names of the CPU vendors' lists are not known: 'perf list --details {}' or the "
      "CPU's manual has the numbers; write cpu/event=0xEE,umask=0xUU/ or rUUEE",
      name);
}

}  // namespace perftape::record
