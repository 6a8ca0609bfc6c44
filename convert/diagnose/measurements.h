// SPDX-License-Identifier: Apache-2.0
// The figures that rules look at, one for each process, cgroup or peer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/diagnose/facts.h"
#include "convert/diagnose/rules.h"

namespace perftape::diagnose {

struct Measurement {
  // What it is about. For a cgroup, only the path is set; for a peer, nothing.
  Process process = {};
  std::vector<std::uint32_t> pids = {};  // of a process, or of these processes
  std::string object = {};               // the file, peer or lock that has most of it; may be empty
  double value = 0;                      // in UnitOf(rule.figure)
  std::string detail = {};               // what the value is made of: "35 of 40, limit 0.20 CPUs"
  std::vector<std::size_t> slow_calls = {};  // indexes in Facts::slow_calls: examples
};

// Returns the measurements of a rule. Empty if nothing that it looks at was recorded, or too little
// to apply the rule.
std::vector<Measurement> Measure(const Rule& rule, const Facts& facts);

}  // namespace perftape::diagnose
