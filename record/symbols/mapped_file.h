// SPDX-License-Identifier: Apache-2.0
// The file of a mapping, found again through /proc.
#pragma once

#include <string>

#include "formats/perfdata/address_space.h"

namespace perftape::record {

// Returns whether an open file is the mapped one. A mapping without inode matches any file.
bool IsFileOf(const perfdata::Dso& dso, int fd);

// Returns "7f2003018000-7f200316e000", the name of a mapping in /proc/PID/map_files.
std::string MapFileName(const perfdata::Region& region);

}  // namespace perftape::record
