// SPDX-License-Identifier: Apache-2.0
// NotedCgroup as JSON, a part of recording.json.
#pragma once

#include <vector>

#include "formats/base/result.h"
#include "formats/bundle/json_fields.h"
#include "formats/bundle/noted_cgroups.h"

namespace perftape::bundle {

// Returns a list with an object for each. Leaves out numbers that are 0.
Json CgroupsJson(const std::vector<NotedCgroup>& cgroups);

// Reads the list "cgroups" of the notes. Fails with kCorrupt for a field of a wrong type.
Result<std::vector<NotedCgroup>> CgroupsOf(Fields& notes);

}  // namespace perftape::bundle
