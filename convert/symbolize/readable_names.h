// SPDX-License-Identifier: Apache-2.0
// Demangles the names that a profile already has.
#pragma once

#include <string>
#include <string_view>

#include "convert/model/profile.h"
#include "formats/demangle/demangle.h"

namespace perftape::symbolize {

// Returns the name to show: "std::terminate()@plt" for "_ZSt9terminatev@plt", and a name that is
// not mangled as it is.
std::string ReadableName(std::string_view name, demangle::Demangling how);

// Returns the profile with demangled names. As in pprof, a function whose name is also the linker's
// gets a readable name, and keeps the other one as system name. Names of jitdumps and perf maps are
// such names, too. Names that are not mangled stay.
convert::Profile DemangleNames(const convert::Profile& profile, demangle::Demangling how);

}  // namespace perftape::symbolize
