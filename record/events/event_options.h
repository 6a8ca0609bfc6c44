// SPDX-License-Identifier: Apache-2.0
// The options between the slashes of an event: "freq=999,name=busy".
#pragma once

#include <string_view>

#include "formats/base/result.h"
#include "record/events/event_spec.h"

namespace perftape::record {

// Adds `options`, separated by commas, to `spec`, which has its text and name. An option that is
// not known becomes a PmuTerm if the name can be that of a PMU. Fails with kInvalidArgument for
// other unknown options, for wrong values, and for options of perf that are not recorded; the
// message says what to use instead.
Status ParseEventOptions(std::string_view options, EventSpec& spec);

}  // namespace perftape::record
