// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of profile.h, for tests and fuzzers.
#pragma once

#include "convert/model/profile.h"
#include "formats/base/result.h"

namespace perftape::convert {

// kCorrupt with the table and the index if: an id is out of range; a caller does not come before
// the stack it calls (so a stack might not end); the first string, mapping, stack, thread or set of
// labels is not the empty one; a mapping ends before it starts; labels are not sorted by their
// keys; or two samples have the same stack, thread, event and labels.
Status Validate(const ProfileTables& tables);
inline Status Validate(const Profile& profile) {
  return Validate(profile.tables());
}

}  // namespace perftape::convert
