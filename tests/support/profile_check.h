// SPDX-License-Identifier: Apache-2.0
// Whether a profile keeps what profile.h says of it: for tests, fuzzers, and whoever changes the
// builder.
#pragma once

#include "convert/model/profile.h"
#include "formats/base/result.h"

namespace perftape::convert {

// kCorrupt, naming the table and the index, where an id is out of range, a caller does not come
// before the one it calls (so a stack might not end), a first string, mapping, stack, thread or set
// of labels is not the empty one, a mapping ends before it starts, labels are not in the order of
// their keys, or two samples are of the same stack, thread, event and labels.
Status Validate(const ProfileTables& tables);
inline Status Validate(const Profile& profile) {
  return Validate(profile.tables());
}

}  // namespace perftape::convert
