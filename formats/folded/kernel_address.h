// SPDX-License-Identifier: Apache-2.0
// Frames of folded lines that are only an address in the kernel. Profilers write them if they could
// not read the kernel's symbols.
//
//   0xffffffff81000100
//   0xffffffff81000100_[k]
//   [kernel] 0xffffbeb59d881648
#pragma once

#include <optional>
#include <string_view>

#include "formats/base/addresses.h"

namespace perftape::folded {

// The address that the whole frame (its name, unescaped) stands for. Nothing for frames that are a
// name, or an address in the lower half of the address space, which is a program's, unless the
// frame says "[kernel]" or is marked with kKernelMark: kernels of 32 bits lie there.
std::optional<RuntimeAddress> KernelAddressOf(std::string_view frame);

}  // namespace perftape::folded
