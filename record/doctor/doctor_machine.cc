// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/doctor_machine.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/bundle/archive_reader.h"
#include "formats/bundle/expanded_input.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/kernel_facts.h"
#include "record/events/event_plan.h"
#include "record/events/probe_events.h"
#include "record/events/recorded_events.h"
#include "record/machine/cpu_list.h"
#include "record/machine/proc_files.h"
#include "record/rings/ring_plan.h"
#include "record/rings/sideband.h"

namespace perftape::record {
namespace {

struct OptionRow {
  Requirement requirement;
  std::string_view option;
};
constexpr OptionRow kOptionsOfKernel[] = {
    {Requirement::kPerfEvents, "CONFIG_PERF_EVENTS"},
    {Requirement::kBtf, "CONFIG_DEBUG_INFO_BTF"},
    {Requirement::kTracefsMount, "CONFIG_FTRACE"},
    {Requirement::kUprobes, "CONFIG_UPROBE_EVENTS"},
    {Requirement::kKprobes, "CONFIG_KPROBE_EVENTS"},
    {Requirement::kTrampolineCalls, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS"},
    {Requirement::kTrampolines, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS"},
    {Requirement::kCgroups, "CONFIG_CGROUPS"},
};

// The text of a file that may be compressed; empty if it cannot be read.
std::string ReadConfig(const std::filesystem::path& path) {
  Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes) return "";
  if (bundle::CompressionOf(AsBytes(*bytes)).empty()) return *std::move(bytes);
  const Result<MappedFile> text = bundle::Expand(AsBytes(*bytes), {});
  return text ? std::string(AsText(text->bytes())) : "";
}

[[gnu::noinline]] void ProbedFunction() {
  asm volatile("");
}

BpfOptions OptionsFor(std::span<const PlannedEvent> planned, std::size_t cpus) {
  constexpr std::uint64_t kDefaultRate = 99;
  const RingPlan rings = PlanRings(cpus, kDefaultRate, /*stack_bytes=*/0, kLeastRing, std::nullopt);
  return {.filter = {.threads = {gettid()}},
          .ring_bytes = rings.bytes,
          .rings = rings.rings,
          .events = BpfEventsOf(planned)};
}

// Opens as many descriptors as the recorder has for its output, its command and its threads.
Result<std::vector<UniqueFd>> OpenOthers() {
  constexpr std::size_t kOthers = 8;
  std::vector<UniqueFd> others;
  while (others.size() < kOthers) {
    others.emplace_back(eventfd(0, EFD_CLOEXEC));
    if (!others.back()) return FailErrno("eventfd", errno);
  }
  return others;
}

Status RehearseRecording(std::span<const PlannedEvent> events) {
  TRY_ASSIGN(const std::vector<UniqueFd> others, OpenOthers());
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  TRY_ASSIGN(BpfSession bpf, BpfSession::Load(OptionsFor(events, online.size())));
  TRY_ASSIGN(RecordedEvents opened, RecordedEvents::Open({events.begin(), events.end()}, online,
                                                         SidebandContent(), Sampler::kPrograms));
  TRY_ASSIGN(const Sideband sideband, Sideband::Open(opened.sideband()));
  for (std::uint32_t number = 0; const RecordedEvents::Sampling& event : opened.sampling()) {
    TRY(bpf.AttachTo(number++, event.on_cpus));
  }
  TRY(opened.EnableSampling());
  TRY(bpf.StartMeasuring());
  bpf.DetachTracepoints();
  opened.CloseTracepoints();
  return bpf.StopMeasuring();
}

Result<ProbeLocation> OwnFunction(ProbeKind kind) {
  TRY_ASSIGN(const std::string maps, ReadWholeFile("/proc/self/maps"));
  const auto address = reinterpret_cast<std::uintptr_t>(&ProbedFunction);
  std::string_view text = maps;
  while (const std::optional<std::string_view> line = NextLine(text)) {
    const std::optional<MapsLine> mapping = ParseMapsLine(*line);
    if (!mapping || address < mapping->start || address >= mapping->end) continue;
    return ProbeLocation{.kind = kind,
                         .target = std::string(mapping->name),
                         .offset = address - mapping->start + mapping->page_offset};
  }
  return Fail(ErrorCode::kNotFound, "/proc/self/maps does not list this program");
}

// landlock_create_ruleset(2), LANDLOCK_CREATE_RULESET_VERSION. Some C library headers are older
// than Linux 5.13. The number is the same on all architectures.
int LandlockVersion() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kAskVersion = 1;
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

}  // namespace

std::string_view KernelConfig::ValueOf(std::string_view option) const {
  if (text.empty()) return "";
  std::string_view left = text;
  while (std::optional<std::string_view> line = NextLine(left)) {
    if (NextField(*line, '=') == option) return *line;
  }
  return "n";
}

KernelConfig ReadKernelConfig(std::string_view release) {
  const std::string in_boot = "/boot/config-" + std::string(release);
  for (const std::string& path : {std::string("/proc/config.gz"), in_boot}) {
    std::string text = ReadConfig(path);
    if (!text.empty()) return {.path = path, .text = std::move(text)};
  }
  return {};
}

std::string_view ConfigOptionOf(Requirement requirement) {
  const auto* const found =
      std::ranges::find(kOptionsOfKernel, requirement, &OptionRow::requirement);
  return found == std::end(kOptionsOfKernel) ? "" : found->option;
}

DoctorMachine DoctorMachine::This() {
  SystemFacts facts = ReadSystemFacts();
  KernelConfig config = ReadKernelConfig(facts.release);
  std::error_code ignored;
  return {.facts = std::move(facts),
          .config = std::move(config),
          .events = EventMachine::This(),
          .rehearse = RehearseRecording,
          .own_function = OwnFunction,
          .cgroups = [] { return MountedCgroupHierarchies(); },
          .has_attach_cookies = HasAttachCookies,
          .has_task_registers = HasTaskRegisters,
          .has_seccomp = std::filesystem::exists("/proc/sys/kernel/seccomp/actions_avail", ignored),
          .landlock_version = LandlockVersion()};
}

}  // namespace perftape::record
