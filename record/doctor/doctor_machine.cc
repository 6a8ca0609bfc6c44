// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/doctor_machine.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "record/bpf/kernel_facts.h"
#include "record/doctor/rehearsal.h"

namespace perftape::record {
namespace {

// landlock_create_ruleset(2), LANDLOCK_CREATE_RULESET_VERSION. Some C library headers are older
// than Linux 5.13. The number is the same on all architectures.
int LandlockVersion() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kAskVersion = 1;
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

}  // namespace

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
