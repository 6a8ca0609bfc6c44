// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/abilities.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "record/events/user_events.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

Ability KernelNames(const SystemFacts& facts) {
  Ability ability{.name = "names of kernel functions"};
  const std::optional<Finding> why = WhyAddressesAreHidden(facts);
  ability.works = !why;
  if (why) ability.findings.push_back(*why);
  return ability;
}

Ability UserRecording(const DoctorMachine& machine) {
  const Status works = CheckUserEvents(machine.events, machine.facts);
  Ability ability{.name = "recording without privileges: user code", .works = works.has_value()};
  if (works) {
    ability.reason = "of own processes, by COMMAND, -p or -t";
    return ability;
  }
  ability.findings = FindingsOf(works.error());
  if (ability.findings.empty()) ability.reason = works.error().message;
  return ability;
}

Ability Cgroups(const DoctorMachine& machine) {
  Ability ability{.name = "cgroups (--cgroup, --container, --all-cgroups)"};
  const Result<std::vector<CgroupHierarchy>> hierarchies = machine.cgroups();
  if (!hierarchies) {
    ability.reason = hierarchies.error().message;
  } else if (hierarchies->empty()) {
    ability.findings.push_back(Missing(Requirement::kCgroups));
  } else {
    const CgroupHierarchy& first = hierarchies->front();
    ability.works = true;
    ability.reason = fmt::format("version {}, {}", first.is_v2() ? 2 : 1, first.mount.string());
  }
  return ability;
}

// A function that Linux has since 5.15. Without CAP_BPF the kernel does not answer, and its release
// decides.
Ability SinceLinux515(std::string name, bool (*answers)(const DoctorMachine&),
                      const DoctorMachine& machine) {
  const bool is_known = !MissingCapabilities(machine.facts) && !machine.facts.in_user_namespace;
  const bool works = is_known ? answers(machine) : !machine.facts.IsOlderThan(5, 15);
  return {.name = std::move(name),
          .works = works,
          .reason = works ? "" : "the kernel lacks it: use Linux 5.15 or later",
          .findings = {}};
}

Ability Sandbox(std::string name, bool works, std::string version, std::string_view option) {
  return {.name = std::move(name),
          .works = works,
          .reason = works ? std::move(version)
                          : fmt::format("the kernel lacks it, or it is switched off: use one with "
                                        "{}; without it the tools work unprotected",
                                        option),
          .findings = {}};
}

}  // namespace

std::vector<Ability> CheckAbilities(const DoctorMachine& machine) {
  return {UserRecording(machine),
          KernelNames(machine.facts),
          Cgroups(machine),
          SinceLinux515(
              "user registers of samples in the kernel",
              [](const DoctorMachine& asked) { return asked.has_task_registers(); }, machine),
          SinceLinux515(
              "one BPF program for several events",
              [](const DoctorMachine& asked) { return asked.has_attach_cookies(); }, machine),
          Sandbox("seccomp filters", machine.has_seccomp, "", "CONFIG_SECCOMP_FILTER"),
          Sandbox("Landlock", machine.landlock_version > 0,
                  fmt::format("version {}", machine.landlock_version),
                  "CONFIG_SECURITY_LANDLOCK (since Linux 5.13) and lsm=landlock,...")};
}

}  // namespace perftape::record
