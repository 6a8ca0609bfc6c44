// SPDX-License-Identifier: Apache-2.0
// A diagnosis as JSON.
#pragma once

#include <string>

#include "record/doctor/diagnosis.h"

namespace perftape::doctor_tool {

// Returns one JSON object and a line end. perftape-doctor(1) describes the keys.
std::string ReportJson(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine);

}  // namespace perftape::doctor_tool
