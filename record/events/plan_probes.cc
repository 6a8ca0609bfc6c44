// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_probes.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "record/machine/did_you_mean.h"
#include "record/probes/explain_missing.h"
#include "record/probes/find_binary.h"
#include "record/probes/function_names.h"
#include "record/probes/probed_binary.h"

namespace perftape::record {
namespace {

// The kernel of arm64 walks by frame pointers. At the entry of a function they are still the
// caller's, and the caller is in the link register only. Others unwind by tables (ORC).
#if defined(__aarch64__)
constexpr bool kKernelWalkMissesCaller = true;
#else
constexpr bool kKernelWalkMissesCaller = false;
#endif

// The hits for each sample. A probe has no frequency.
Result<std::uint64_t> EveryOf(const EventSpec& spec) {
  if (!spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     "if= is only for tracepoints: a probe has no fields");
  }
  if (!spec.rate) return spec.every.value_or(1);
  const Period* period = std::get_if<Period>(&*spec.rate);
  if (period == nullptr || spec.every) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     "a probe has no frequency: use every=N to record one hit in N");
  }
  return period->count;
}

PlannedEvent EventOf(std::string name, std::uint64_t every, std::vector<ProbeLocation> locations) {
  PlannedEvent event{.name = std::move(name),
                     .attr = BpfOutputAttr(every),
                     .cause = SampleCause::kProbe,
                     .locations = std::move(locations)};
  event.settings.every = every;
  return event;
}

std::vector<ProbeLocation> LocationsOf(const ProbeSpec& probe, const ProbedBinary& binary,
                                       const std::vector<ProbedOffset>& offsets) {
  std::vector<ProbeLocation> locations;
  for (const ProbedOffset& at : offsets) {
    locations.push_back({.kind = probe.kind,
                         .target = binary.path().string(),
                         .offset = at.offset,
                         .semaphore_offset = at.semaphore_offset});
  }
  return locations;
}

std::vector<std::string> Matching(const std::string& glob, std::vector<std::string> names) {
  std::erase_if(
      names, [&](const std::string& name) { return fnmatch(glob.c_str(), name.c_str(), 0) != 0; });
  return names;
}

// Plans the probes of one EventSpec.
class ProbePlanner {
 public:
  ProbePlanner(const EventSpec& spec, ProbeSpec probe, const EventMachine& machine)
      : spec_(spec), probe_(std::move(probe)), machine_(machine) {}

  Status OpenBinary() {
    if (IsInKernel(probe_.kind)) return {};
    const Result<std::filesystem::path> path = FindBinary(probe_.file);
    if (!path) return FailEvent(spec_, path.error());
    Result<ProbedBinary> binary = ProbedBinary::Open(*path);
    if (!binary) return FailEvent(spec_, binary.error());
    binary_.emplace(*std::move(binary));
    return {};
  }

  // Returns the functions or USDT probes that the glob matches; the name itself if it is none.
  Result<std::vector<std::string>> Names() const {
    const bool is_usdt = probe_.kind == ProbeKind::kUsdt;
    const std::string wanted =
        is_usdt ? fmt::format("{}:{}", probe_.provider, probe_.symbol) : probe_.symbol;
    if (!is_usdt && !IsGlob(wanted)) return std::vector<std::string>{wanted};
    // "operator*", "main.(*T).Get" and "name[abi:cxx11]" are no globs if there is such a function.
    if (!is_usdt && binary_ && binary_->HasFunction(wanted))
      return std::vector<std::string>{wanted};
    std::vector<std::string> all;
    if (is_usdt) {
      all = binary_->UsdtNames();
    } else if (!binary_) {
      TRY_ASSIGN(all, machine_.kernel_functions());
    }
    std::vector<std::string> names =
        is_usdt || !binary_ ? Matching(wanted, all) : binary_->MatchingFunctions(wanted);
    if (!names.empty()) return names;
    const std::string where = binary_ ? binary_->path().string() : "the kernel";
    const std::string what = is_usdt ? "USDT probe" : "function";
    return FailEvent(spec_, ErrorCode::kNotFound,
                     is_usdt && all.empty() ? fmt::format("{} has no USDT probes", where)
                                            : fmt::format("no {} '{}' in {}{}", what, wanted, where,
                                                          DidYouMean(wanted, all)));
  }

  // `name` is one of Names().
  std::string NameInFile(const std::string& name) const {
    const std::string file = binary_ ? binary_->path().string() + ":" : "";
    const std::string offset = probe_.offset == 0 ? "" : fmt::format("+0x{:x}", probe_.offset);
    return fmt::format("{}:{}{}{}", WordOf(probe_.kind), file, name, offset);
  }

  // Fails if the function cannot be probed in this way.
  Status CheckName(const std::string& name) const {
    if (probe_.kind != ProbeKind::kUretprobe || !binary_->is_go()) return {};
    const Result<std::vector<ProbedOffset>> offsets = binary_->FindFunction(name, 0);
    return offsets ? CheckReturnProbe(name, *offsets) : Status();
  }

  Result<PlannedEvent> Plan(const std::string& name, std::uint64_t every) const {
    if (IsInKernel(probe_.kind)) {
      TRY(CheckKernelFunction(name));
      PlannedEvent event =
          EventOf(NameInFile(name), every,
                  {{.kind = probe_.kind, .target = name, .offset = probe_.offset}});
      if (IsTrampoline(probe_.kind)) event.cause = SampleCause::kFunction;
      const bool is_at_entry = probe_.kind == ProbeKind::kKprobe && probe_.offset == 0;
      if (kKernelWalkMissesCaller && is_at_entry) event.settings.flags |= WIRE_AT_ENTRY;
      return event;
    }
    if (probe_.kind == ProbeKind::kUsdt) {
      const std::size_t colon = name.find(':');
      const std::vector<ProbedOffset> offsets =
          binary_->FindUsdt(name.substr(0, colon), name.substr(colon + 1));
      if (offsets.empty()) {
        return FailEvent(
            spec_, ErrorCode::kUnsupported,
            fmt::format("the note of '{}' in {} is damaged", name, binary_->path().string()));
      }
      return EventOf(NameInFile(name), every, LocationsOf(probe_, *binary_, offsets));
    }
    const Result<std::vector<ProbedOffset>> offsets = binary_->FindFunction(name, probe_.offset);
    if (!offsets) {
      return FailEvent(spec_, offsets.error().code,
                       offsets.error().code == ErrorCode::kNotFound ? ExplainMissing(*binary_, name)
                                                                    : offsets.error().message);
    }
    TRY(CheckReturnProbe(name, *offsets));
    PlannedEvent event = EventOf(NameInFile(name), every, LocationsOf(probe_, *binary_, *offsets));
    if (probe_.kind != ProbeKind::kUprobe || probe_.offset != 0) return event;
    event.settings.flags |= WIRE_AT_ENTRY;
    const auto pushes = [&](const ProbedOffset& at) {
      return binary_->PushesFramePointer(at.offset);
    };
    if (std::ranges::any_of(*offsets, pushes)) event.settings.flags |= WIRE_PUSHES_FP;
    return event;
  }

 private:
  // The kernel replaces the return address on the stack by its own (prepare_uretprobe). Go's
  // runtime reads return addresses when it moves or scans a stack, finds this one in no function,
  // and ends the program. C functions of a cgo program run on the stack of the thread, which Go
  // neither moves nor reads.
  Status CheckReturnProbe(const std::string& name, const std::vector<ProbedOffset>& offsets) const {
    if (probe_.kind != ProbeKind::kUretprobe) return {};
    const auto is_go = [&](const ProbedOffset& at) { return binary_->IsGoCode(at.offset); };
    if (std::ranges::none_of(offsets, is_go)) return {};
    return FailEvent(
        spec_, ErrorCode::kUnsupported,
        fmt::format("'{0}' is a Go function, and a return probe would kill the program: Go moves "
                    "its stacks and does not know the return address that the kernel puts there; "
                    "probe the entry, uprobe:{1}:{0}, or each return instruction, "
                    "uprobe:{1}:{0}+OFFSET ('objdump -d' shows them as ret)",
                    name, binary_->path().string()));
  }

  Status CheckKernelFunction(const std::string& name) const {
    const Result<std::vector<std::string>> functions = machine_.kernel_functions();
    if (!functions || std::ranges::binary_search(*functions, name)) return {};
    return FailEvent(spec_, ErrorCode::kNotFound,
                     fmt::format("the kernel has no function '{}' (/proc/kallsyms){}", name,
                                 DidYouMean(name, *functions)));
  }

  const EventSpec& spec_;
  ProbeSpec probe_;
  const EventMachine& machine_;
  std::optional<ProbedBinary> binary_;  // none for the kernel
};

}  // namespace

Result<std::vector<std::string>> MatchingProbes(const EventSpec& spec,
                                                const EventMachine& machine) {
  TRY_ASSIGN(ProbeSpec probe, ParseProbe(spec.name));
  if (!IsGlob(probe.symbol)) probe.symbol = "*" + probe.symbol + "*";
  ProbePlanner planner(spec, std::move(probe), machine);
  TRY(planner.OpenBinary());
  TRY_ASSIGN(std::vector<std::string> names, planner.Names());
  for (const std::string& name : names) TRY(planner.CheckName(name));
  for (std::string& name : names) name = planner.NameInFile(name);
  return names;
}

Result<std::vector<PlannedEvent>> PlanProbes(const EventSpec& spec, const EventMachine& machine) {
  TRY_ASSIGN(const std::uint64_t every, EveryOf(spec));
  TRY_ASSIGN(ProbeSpec probe, ParseProbe(spec.name));
  if (const Status there = machine.check_probe_kind(probe.kind); !there) {
    return FailEvent(spec, there.error());
  }
  ProbePlanner planner(spec, std::move(probe), machine);
  TRY(planner.OpenBinary());
  TRY_ASSIGN(const std::vector<std::string> names, planner.Names());
  if (names.size() > kMostProbes) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("matches {} functions, but at most {} are allowed, because each "
                                 "probe takes 0.1 s to remove: use a narrower pattern",
                                 names.size(), kMostProbes));
  }
  std::vector<PlannedEvent> events;
  for (const std::string& name : names) {
    TRY_ASSIGN(PlannedEvent event, planner.Plan(name, every));
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace perftape::record
