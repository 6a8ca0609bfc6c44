// SPDX-License-Identifier: Apache-2.0
// Events of processors with several types of cores. Each type has a PMU of its own, so perf opens
// "cycles" once for each: "cpu_core/cycles/P" and "cpu_atom/cycles/P". A sample is in one of them.
#pragma once

#include <string>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// Returns the name without the PMU of a type of cores: "cycles:P" of "cpu_core/cycles/P". Empty if
// the event is of no such PMU. PMUs are those of Intel's hybrid processors (arch/x86/events/intel/
// core.c: cpu_core, cpu_atom, cpu_lowpower) and of Arm's (drivers/perf/arm_pmuv3.c: armv8_...).
std::string NameOnAllCores(std::string_view event);

// Returns the profile with one event, "cycles:P", instead of those of several types of cores. An
// event of only one type stays as it is.
Profile JoinHybridEvents(const Profile& profile);

}  // namespace perftape::convert
