// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/hit_object.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "probe.skel.h"
#include "record/bpf/bpf_trampoline.h"
#include "record/bpf/libbpf_log.h"
#include "record/bpf/program_events.h"
#include "tracepoint.skel.h"
#include "trampoline.skel.h"

namespace perftape::record {
namespace {

Result<HitObject> OpenTracepoint(const BpfEvent&, const wire_filter& filter,
                                 const std::string& log) {
  return OpenHitObject<tracepoint_bpf>(
      "the BPF program for tracepoints", filter, log,
      [](const tracepoint_bpf& opened) { return Programs{opened.progs.on_tracepoint}; });
}

Result<HitObject> OpenProbe(const BpfEvent&, const wire_filter& filter, const std::string& log) {
  return OpenHitObject<probe_bpf>(
      "the BPF program for probes", filter, log,
      [](const probe_bpf& opened) { return Programs{opened.progs.on_probe}; });
}

Result<HitObject> OpenOwn(const BpfEvent& event, const wire_filter& filter,
                          const std::string& log) {
  return event.program->open(filter, log);
}

Result<HitObject> OpenFunction(const BpfEvent& event, const wire_filter& filter,
                               const std::string& log) {
  const std::string name =
      fmt::format("the BPF program for {}:{}", WordOf(event.probe), event.function);
  int error = 0;
  auto opened = OpenHitObject<trampoline_bpf>(name, filter, log, [&](trampoline_bpf& skeleton) {
    error = SetFunction(skeleton, event.probe, event.function);
    return Programs{ProgramFor(skeleton, event.probe)};
  });
  if (opened && error != 0) {
    return ExplainFailure(fmt::format("cannot load {}", name).c_str(), -error, log);
  }
  return opened;
}

constexpr HitObjectKind kKinds[] = {
    {SampleCause::kTracepoint, ObjectOf::kAllEvents, OpenTracepoint},
    {SampleCause::kProbe, ObjectOf::kAllEvents, OpenProbe},
    // The kernel needs to know the function when it loads a program.
    {SampleCause::kFunction, ObjectOf::kOneEvent, OpenFunction},
    // No two events have the same programs.
    {SampleCause::kOwnProgram, ObjectOf::kOneEvent, OpenOwn},
};

}  // namespace

Status HitObject::Load(const std::string& log) const {
  const int error = bpf_object__load_skeleton(skeleton);
  if (error == 0) return {};
  return ExplainFailure(fmt::format("cannot load {}", name).c_str(), -error, log);
}

const HitObjectKind* HitObjectKindOf(SampleCause cause) {
  const auto* const kind = std::ranges::find(kKinds, cause, &HitObjectKind::cause);
  return kind != std::end(kKinds) ? kind : nullptr;
}

}  // namespace perftape::record
