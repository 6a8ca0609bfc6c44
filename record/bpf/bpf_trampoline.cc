// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/bpf_trampoline.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "bpf/wire.h"
#include "record/bpf/bpf_objects.h"
#include "record/bpf/libbpf_log.h"
#include "record/machine/requirements.h"
#include "trampoline.skel.h"

namespace perftape::record {

Status TryTrampoline(ProbeKind kind, const std::string& function) {
  if (const std::optional<Finding> missing = MissingCapabilities(ReadSystemFacts())) {
    return Fail(ErrorCode::kPermission, missing->text());
  }
  std::string log;
  const CapturedLog captured(log, nullptr);
  const std::unique_ptr<trampoline_bpf, decltype(&trampoline_bpf__destroy)> skeleton(
      trampoline_bpf__open(), &trampoline_bpf__destroy);
  int error = skeleton ? SetFunction(skeleton.get(), kind, function) : -errno;
  if (error == 0) error = trampoline_bpf__load(skeleton.get());
  if (error == 0) {
    const bpf_program* const program =
        kind == ProbeKind::kFexit ? skeleton->progs.on_fexit : skeleton->progs.on_fentry;
    bpf_link* const link = bpf_program__attach(program);
    error = link != nullptr ? 0 : -errno;
    bpf_link__destroy(link);
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
