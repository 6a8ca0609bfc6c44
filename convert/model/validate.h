// SPDX-License-Identifier: Apache-2.0
// Checks whether a profile fulfils the rules in profile.h. For tests, fuzzers and changes of the
// builder.
#pragma once

#include "convert/model/profile.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns kCorrupt, naming the table and the index, if one of these rules is broken:
//
//   - ids are in range
//   - a caller precedes its callees, so that each stack ends
//   - the first string, mapping, stack, thread and set of labels are empty
//   - mappings do not end before they start
//   - labels are in the order of their keys
//   - no two samples have the same stack, thread, event and labels
Status Validate(const ProfileTables& tables);
inline Status Validate(const Profile& profile) {
  return Validate(profile.tables());
}

}  // namespace perftape::convert
