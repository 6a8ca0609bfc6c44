// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/bpf_trampoline.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "bpf/wire.h"
#include "record/bpf/libbpf_log.h"
#include "record/bpf/skeleton.h"
#include "record/machine/requirements.h"
#include "trampoline.skel.h"

namespace perftape::record {

bpf_program* ProgramFor(const trampoline_bpf& skeleton, ProbeKind kind) {
  return kind == ProbeKind::kFexit ? skeleton.progs.on_fexit : skeleton.progs.on_fentry;
}

int SetFunction(const trampoline_bpf& skeleton, ProbeKind kind, const std::string& function) {
  bpf_program* const program = ProgramFor(skeleton, kind);
  for (bpf_program* either : {skeleton.progs.on_fentry, skeleton.progs.on_fexit}) {
    bpf_program__set_autoload(either, either == program);
  }
  return bpf_program__set_attach_target(program, 0, function.c_str());
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
