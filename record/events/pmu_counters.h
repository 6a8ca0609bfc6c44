// SPDX-License-Identifier: Apache-2.0
// What the PMUs of sysfs count: PMU/TERM=VALUE,.../, the names of their events, and hardware events
// on a machine with several kinds of cores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/bpf/sample_cause.h"
#include "record/events/event_spec.h"
#include "record/events/pmus.h"

namespace perftape::record {

// What is counted, without rate and modifiers.
struct Counter {
  std::string name;               // in the file, without modifiers
  perfdata::EventAttr attr = {};  // type, config and the words after it
  SampleCause cause = SampleCause::kCounter;
  std::vector<int> cpus = {};  // of the PMU; empty: all
};

// Returns a hardware event, of each kind of core; itself, if there is only one kind. Fails as
// Pmus::Read.
Result<std::vector<Counter>> OnEachKindOfCore(const Counter& counter, const Pmus& pmus);

// Returns the event of each PMU that the name means. Fails with kNotFound if there is no such PMU,
// with kInvalidArgument for a term or value that it does not have, and as Pmus::Read.
Result<std::vector<Counter>> EventsOfPmus(const EventSpec& spec, const Pmus& pmus);

// Returns the events that the PMUs of the cores have under this name ("mem-loads"), or none. Fails
// as Pmus::Read.
Result<std::vector<Counter>> EventsOfCores(const EventSpec& spec, const Pmus& pmus);

// Returns what a user may write instead of a name of a CPU vendor's lists, which perf has and
// perftape does not; empty for a name that cannot be of such a list.
std::string InsteadOfVendorName(std::string_view name);

}  // namespace perftape::record
