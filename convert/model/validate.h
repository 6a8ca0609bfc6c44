// SPDX-License-Identifier: Apache-2.0
// Checks whether a profile fulfils the rules in profile.h. For tests, fuzzers and changes of the
// builder.
#pragma once

#include "convert/model/profile.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns kCorrupt, naming the table and the index, if an id is out of range, a caller does not
// precede its callee (so a stack might not end), a first string, mapping, stack, thread or set of
// labels is not empty, a mapping ends before it starts, labels are not in the order of their keys,
// or two samples have the same stack, thread, event and labels.
Status Validate(const ProfileTables& tables);
inline Status Validate(const Profile& profile) {
  return Validate(profile.tables());
}

}  // namespace perftape::convert
