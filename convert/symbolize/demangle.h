// SPDX-License-Identifier: Apache-2.0
// Linker names into those that people write: C++ (Itanium ABI), Rust (legacy and v0).
#pragma once

#include <string>

namespace perftape {

// "core::ptr::drop_in_place" of "_ZN4core3ptr13drop_in_place17h0123456789abcdefE"; the name itself
// where it is not mangled, or where what it stands for would be absurdly long.
std::string Demangle(const std::string& name);

}  // namespace perftape
