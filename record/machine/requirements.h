// SPDX-License-Identifier: Apache-2.0
// Checks whether this machine and this user can record, without loading a BPF program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/machine/requirement.h"
#include "record/machine/system_facts.h"

namespace perftape::record {

// Returns why /proc/kallsyms and /proc/modules show no addresses to this process; nothing if they
// should show them (kallsyms_show_value in kernel/ksyms_common.c).
std::optional<Finding> WhyAddressesAreHidden(const SystemFacts& facts);
// Returns "/proc/kallsyms hides addresses: kernel.kptr_restrict is 2, …" for this process, after it
// has read zeros there.
std::string HiddenAddressesText();

// Returns the finding if CAP_BPF or CAP_PERFMON is missing.
std::optional<Finding> MissingCapabilities(const SystemFacts& facts);

// Returns why this user cannot load BPF programs; nothing if neither missing capabilities nor a
// user namespace keep the user from it.
std::optional<Finding> WhyNoPrograms(const SystemFacts& facts);

struct Findings {
  std::vector<Finding> missing;  // requirements; without them nothing can be recorded
  std::vector<Finding> limits;   // restrictions; a recording will be incomplete
};

Findings CheckFacts(const SystemFacts& facts);

// Returns why the kernel may have refused a BPF program, a map or a perf event with this errno: all
// that is missing, or else what fits the error.
std::vector<Finding> LikelyCauses(const SystemFacts& facts, int error_number);

}  // namespace perftape::record
