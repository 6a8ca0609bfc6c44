// SPDX-License-Identifier: Apache-2.0
// A diagnosis as text.
#pragma once

#include <string>

#include "record/doctor/diagnosis.h"

namespace perftape::doctor_tool {

// Returns lines with their ends: one for each kind of event and each ability, then what is missing,
// with the remedies.
//
//   clock            cpu-clock            works
//   hardware event   instructions         does not work: this machine has no hardware counter ...
std::string ReportText(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine);

}  // namespace perftape::doctor_tool
