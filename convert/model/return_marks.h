// SPDX-License-Identifier: Apache-2.0
// Functions whose first instruction is put on stacks in place of a return address. There is no call
// before it, so a frame at this address is looked up without subtracting 1.
#pragma once

#include <string_view>

namespace perftape::convert {

// Whether the function is the code to which the handlers of signals return, of a libc, of the vdso
// or of Go's runtime.
bool IsSignalTrampoline(std::string_view function);

// Whether it is such a trampoline, or another function that runtimes put on stacks: where
// makecontext(3) starts a context, and what Go writes into the frames of goroutines that wait on
// another stack.
bool IsReturnMark(std::string_view function);

}  // namespace perftape::convert
