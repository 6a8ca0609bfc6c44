// SPDX-License-Identifier: Apache-2.0
// What recordings have, or the tools use, where the kernel offers it.
#pragma once

#include <string>
#include <vector>

#include "record/doctor/doctor_machine.h"
#include "record/machine/requirements.h"

namespace perftape::record {

struct Ability {
  std::string name = {};  // "names of kernel functions"
  bool works = false;
  std::string reason = {};             // why not, or a remark; may be empty
  std::vector<Finding> findings = {};  // why not
};

std::vector<Ability> CheckAbilities(const DoctorMachine& machine);

}  // namespace perftape::record
