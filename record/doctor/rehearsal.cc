// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/rehearsal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "record/bpf/bpf_session.h"
#include "record/events/event_plan.h"
#include "record/events/recorded_events.h"
#include "record/machine/cpu_list.h"
#include "record/machine/proc_files.h"
#include "record/rings/ring_plan.h"
#include "record/rings/sideband.h"

namespace perftape::record {
namespace {

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
    others.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!others.back()) return FailErrno("/dev/null", errno);
  }
  return others;
}

}  // namespace

Status RehearseRecording(std::span<const PlannedEvent> events) {
  TRY_ASSIGN(const std::vector<UniqueFd> others, OpenOthers());
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  TRY_ASSIGN(BpfSession bpf, BpfSession::Load(OptionsFor(events, online.size())));
  TRY_ASSIGN(RecordedEvents opened,
             RecordedEvents::Open({events.begin(), events.end()}, online, SidebandContent()));
  TRY_ASSIGN(const Sideband sideband, Sideband::Open(opened.sideband()));
  for (std::uint32_t number = 0; const RecordedEvents::Sampling& event : opened.sampling()) {
    TRY(bpf.AttachTo(number++, event.on_cpus));
  }
  TRY(opened.EnableSampling());
  TRY(bpf.StartOffCpu());
  bpf.DetachTracepoints();
  opened.CloseTracepoints();
  return bpf.StopOffCpu();
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

}  // namespace perftape::record
