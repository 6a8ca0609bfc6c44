// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/hit_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "probe.skel.h"
#include "record/bpf/program_events.h"
#include "record/machine/requirements.h"
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

// Probes of the kernel's functions are BPF trampolines: fentry and fexit (Linux 5.5). Returns the
// program for this kind of probe.
bpf_program* ProgramFor(const trampoline_bpf& skeleton, ProbeKind kind) {
  return kind == ProbeKind::kFexit ? skeleton.progs.on_fexit : skeleton.progs.on_fentry;
}

// Sets the function of the kernel that this program is called for. The other program is not loaded.
// Returns 0 or the negative errno.
int SetFunction(const trampoline_bpf& skeleton, ProbeKind kind, const std::string& function) {
  bpf_program* const program = ProgramFor(skeleton, kind);
  for (bpf_program* either : {skeleton.progs.on_fentry, skeleton.progs.on_fexit}) {
    bpf_program__set_autoload(either, either == program);
  }
  return bpf_program__set_attach_target(program, 0, function.c_str());
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

std::uint64_t SkippedRuns(const bpf_program* program) {
  bpf_prog_info info = {};
  __u32 size = sizeof info;
  return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0 ? info.recursion_misses
                                                                             : 0;
}

Status HitObject::Load(const std::string& log) const {
  const int error = bpf_object__load_skeleton(skeleton);
  if (error == 0) return {};
  return ExplainFailure(fmt::format("cannot load {}", name).c_str(), -error, log);
}

const HitObjectKind* HitObjectKindOf(SampleCause cause) {
  const auto* const kind = std::ranges::find(kKinds, cause, &HitObjectKind::cause);
  return kind != std::end(kKinds) ? kind : nullptr;
}

Status TryTrampoline(ProbeKind kind, const std::string& function) {
  if (const std::optional<Finding> missing = MissingCapabilities(ReadSystemFacts())) {
    return Fail(ErrorCode::kPermission, missing->text());
  }
  std::string log;
  const CapturedLog captured(log, nullptr);
  const Skeleton<trampoline_bpf> skeleton(trampoline_bpf__open());
  int error = skeleton ? SetFunction(*skeleton, kind, function) : -errno;
  if (error == 0) error = trampoline_bpf__load(skeleton.get());
  if (error == 0) {
    const Link link(bpf_program__attach(ProgramFor(*skeleton, kind)));
    if (!link) error = -errno;
  }
  if (error == 0) return {};
  constexpr int kNotSupported = 524;  // ENOTSUPP of the kernel, which has no text
  if (error == -kNotSupported) {
    return FailMissing(ErrorCode::kUnsupported, "",
                       {Missing(Requirement::kTrampolineCalls, {function})});
  }
  const bool is_refused = error == -EPERM || error == -EACCES;
  return FailMissing(is_refused ? ErrorCode::kPermission : ErrorCode::kUnsupported, "",
                     {Missing(Requirement::kTrampolines, {function, std::strerror(-error)})});
}

}  // namespace perftape::record
