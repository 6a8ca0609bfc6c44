// SPDX-License-Identifier: Apache-2.0
// Frames of folded lines that are only a kernel address. Profilers write them if they could not
// read the kernel's symbols.
//
//   0xffffffff81000100
//   0xffffffff81000100_[k]
//   [kernel] 0xffffbeb59d881648
#pragma once

#include <optional>
#include <string_view>

#include "formats/base/addresses.h"

namespace perftape::folded {

// The address in `frame`, which is unescaped. Returns nothing if the frame is not an address. The
// lower half of the address space belongs to programs, and to 32-bit kernels. So an address in it
// needs "[kernel]" or kKernelMark.
std::optional<RuntimeAddress> KernelAddressOf(std::string_view frame);

}  // namespace perftape::folded
