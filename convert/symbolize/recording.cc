// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/recording.h"

#include "formats/perfdata/reader.h"

namespace perftape {

Recording::Recording(const Input& input)
    : machine_{.is_this_boot = true}, kallsyms_(perfdata::KallsymsOf(input)) {}

}  // namespace perftape
