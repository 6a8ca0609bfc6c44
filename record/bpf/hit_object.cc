// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/hit_object.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "lock.skel.h"
#include "probe.skel.h"
#include "record/bpf/bpf_trampoline.h"
#include "record/bpf/libbpf_log.h"
#include "record/bpf/skeleton.h"
#include "tracepoint.skel.h"
#include "trampoline.skel.h"

namespace perftape::record {
namespace {

// Opens an object whose programs are those that `programs_of` returns for its skeleton.
template <class Generated, class ProgramsOf>
Result<HitObject> Open(std::string name, const wire_filter& filter, const std::string& log,
                       ProgramsOf programs_of) {
  TRY_ASSIGN(Skeleton<Generated> skeleton, OpenSkeleton<Generated>(log));
  skeleton->rodata->filter = filter;
  HitObject object = {.owner = {},
                      .object = skeleton->obj,
                      .skeleton = skeleton->skeleton,
                      .programs = programs_of(*skeleton),
                      .name = std::move(name)};
  object.owner = std::move(skeleton);
  return object;
}

using Programs = std::vector<bpf_program*>;

Result<HitObject> OpenTracepoint(const BpfEvent&, const wire_filter& filter,
                                 const std::string& log) {
  return Open<tracepoint_bpf>(
      "the BPF program for tracepoints", filter, log,
      [](const tracepoint_bpf& opened) { return Programs{opened.progs.on_tracepoint}; });
}

Result<HitObject> OpenProbe(const BpfEvent&, const wire_filter& filter, const std::string& log) {
  return Open<probe_bpf>("the BPF program for probes", filter, log,
                         [](const probe_bpf& opened) { return Programs{opened.progs.on_probe}; });
}

// The end is attached first: a wait that begins then has one.
Result<HitObject> OpenLock(const BpfEvent&, const wire_filter& filter, const std::string& log) {
  return Open<lock_bpf>("the BPF programs for locks", filter, log, [](const lock_bpf& opened) {
    return Programs{opened.progs.on_contention_end, opened.progs.on_contention_begin};
  });
}

Result<HitObject> OpenFunction(const BpfEvent& event, const wire_filter& filter,
                               const std::string& log) {
  const std::string name =
      fmt::format("the BPF program for {}:{}", WordOf(event.probe), event.function);
  int error = 0;
  auto opened = Open<trampoline_bpf>(name, filter, log, [&](trampoline_bpf& skeleton) {
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
    // Its programs have no cookie. A recording has at most one such event.
    {SampleCause::kLock, ObjectOf::kOneEvent, OpenLock},
    // The kernel needs to know the function when it loads a program.
    {SampleCause::kFunction, ObjectOf::kOneEvent, OpenFunction},
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
